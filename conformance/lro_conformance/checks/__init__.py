"""The checks, one module per chapter of the specification.

The contract of every check:

- It judges one requirement only. If a subject (a thing that the check examines, such as a call) violates another
  requirement, the check does not count this subject, and notes the reason as *not observed*.
- It can fail. It counts the subjects because of which it could have failed, and passes only if there is at least one.
- It is a pure function of the evidence that its parameters name: it reads neither files nor the clock, and starts
  nothing.
- If a descriptor or a file alone shows whether a requirement is met, `lro_spec.validation` decides this, as it does for
  `lro validate`. The check of such a requirement collects the findings with the id of the requirement from all
  documents of the run (`lro_conformance.analysis.documents`). It also examines what only a live server shows: the
  result of the same call inline, the time, and other files in the directory.
- It is lenient in what it reads and precise in what it reports: expected, observed, and a call that reproduces it.
- The first paragraph of its docstring is shown to users as the expectation. The other paragraphs state limits,
  tolerances and exemptions; `lro explain` shows the complete docstring.
"""
