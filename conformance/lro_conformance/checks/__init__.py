"""The checks, one module per chapter of the specification.

The contract of every check:

- It judges one requirement only. If a subject is wrong in a way that another requirement covers, the check does not
  count it, and notes as *not observed* why.
- It can fail. It passes only if it examined at least one subject that could have failed it, and it counts those.
- It is a pure function of the evidence that its parameters name: it reads neither files nor the clock, and starts
  nothing.
- If documents alone show whether a requirement is met, `lro_spec.validation` decides it, as for `lro validate`. The
  check of such a requirement collects the findings with its id over all documents of the run
  (`lro_conformance.analysis.documents`). It adds what only a live server shows: the same call inline, the time, other
  files in the directory.
- It is lenient in what it reads and precise in what it reports: expected, observed, and a call that reproduces it.
- The first paragraph of its docstring is shown to users as the expectation. `lro explain` shows all of it, with limits,
  tolerances and exemptions.
"""
