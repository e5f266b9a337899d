"""One run, from profile to report, in two halves.

`capture` drives live servers and returns evidence; `judgement` makes a report from evidence and starts no server. `run`
composes the two. Import from these modules, not from the package, so that judging recorded evidence does not load the
code that starts servers.
"""
