"""The checks, one module per chapter of the specification.

The contract of every check:

- It judges one requirement and no other. If something else is wrong, its subject is *not observed*, with a reason.
- It can fail. It passes only when it examined at least one subject that could have failed it, and it counts those.
- It is a pure function of the evidence that its parameters name: it reads no file, starts nothing and asks no clock.
- Requirements of documents are decided by `lro_spec.validation`, for `lro validate` as well. A check of such a
  requirement collects the findings with its id, over all documents of the run (`lro_conformance.analysis.documents`);
  it adds the context that only a live server gives: the same call inline, the clock, other files in the directory.
- It is lenient in what it reads and precise in what it reports: expected, observed, and a call that reproduces it.
- The first paragraph of its docstring is shown to users as the expectation, all of it by `lro explain`: limits,
  tolerances and exemptions.
"""
