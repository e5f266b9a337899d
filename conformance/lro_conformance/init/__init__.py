"""`lro init`: probing a server and writing its profile."""
