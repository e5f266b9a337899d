"""The generator of conformance/vectors: ``python -m tests.tools.vectors`` writes the files again.

Each module describes the vectors of some kinds: the question, the expected answer where a person has to state it, and
the reason. The suite's own rules (`lro_conformance.vectors.answers`) have to give that answer, or nothing is written.
"""
