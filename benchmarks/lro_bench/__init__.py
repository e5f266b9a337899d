"""lro-bench: the published evaluation of Large Result Offloading rebuilt, and the weight of a server's own results.

`lro bench` and `lro weigh` start in `lro_bench.cli`. They need an extra: ``pip install 'lro-spec[bench]'``.
Published figures are kept as data, with their source (``data/published.yaml``); every other number is computed.
"""
