"""One run, from profile to report."""

from lro_conformance.engine.session import certify, certify_by_all, judge_again

__all__ = ["certify", "certify_by_all", "judge_again"]
