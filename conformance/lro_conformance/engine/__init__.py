"""One run, from profile to report, in two halves.

`capture` drives live servers and yields evidence; `judgement` makes a report of evidence and starts nothing. `run`
composes them. Import from the modules, so that judging recorded evidence loads no laboratory.
"""
