"""Everything that a run observed, kept in a folder, and judged again from there without any server.

The layout is described in docs/evidence.md. `recorder` writes it while a run goes on, `reader` reads it and trusts
nothing, `codec` is how the records of trials become JSON and come back, `masking` keeps secrets out of all of it.
"""
