module example.org/lro-vectors

go 1.19
