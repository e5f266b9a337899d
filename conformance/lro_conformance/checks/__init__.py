"""The judgements, a module a chapter of the specification.

What every check here keeps to:

- It judges one requirement, and blames no other. Where something else is at fault, its subject is *unseen*, with a
  reason.
- It can fail. It passes only when it examined at least one subject that could have failed it, and it counts those.
- It is a pure function of the evidence that its parameters name: it reads no file, starts nothing and asks no clock.
  Checks that take `live` try servers out, through Hypothesis; they are the exception, and stand in `test_properties`.
- What a document has to be is decided by `lro_spec.validation`, for `lro validate` as well. A check of such a
  requirement is the findings with its id, over all documents of the run (`lro_conformance.analysis.documents`); it
  adds the context that only a live server gives: the same call inline, the clock, what else lies in the folder.
- It is lenient in what it reads and precise in what it says: expected, observed, and the call that shows it once more.
- Its docstring is what users read as expected.
"""
