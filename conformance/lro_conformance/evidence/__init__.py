"""Recorded evidence: a folder with everything that a run observed. The run can be judged again from this folder,
without a server.

The layout is described in docs/evidence.md. `recorder` writes it during a run, `reader` reads it without trusting it,
`codec` converts the records of trials to JSON and back, and `store` redacts secrets.
"""
