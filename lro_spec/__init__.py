"""The specification of Large Result Offloading as a library; only jq and hostile schemas run in child processes."""
