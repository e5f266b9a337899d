"""Recorded evidence: everything that a run observed, in a folder, from which it can be judged again without a server.

The layout is described in docs/evidence.md. `recorder` writes it during a run, `reader` reads it without trusting it,
`codec` converts the records of trials to JSON and back, and `store` redacts secrets.
"""
