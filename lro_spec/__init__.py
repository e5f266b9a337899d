"""The specification of Large Result Offloading as a library: pure, no process, no socket."""
