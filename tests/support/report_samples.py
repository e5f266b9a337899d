"""Reports for tests: small, complete, and hostile where a server has a say."""

from __future__ import annotations

from dataclasses import replace

from lro_conformance.judging.results import Acceptance, CheckResult, Report, RequirementResult, ServerInfo, Span
from lro_conformance.judging.verdicts import Verdict
from lro_spec.catalogue import Keyword, Requirement


def requirement(id: str, *, keyword: Keyword = "MUST", level: int | None = 1, group: str = "file") -> Requirement:
    return Requirement(
        id=id,
        title=f"title of {id}",
        group=group,
        keyword=keyword,
        level=level,
        section="JSONL File Format",
        statement=f"statement of {id}",
        rationale=f"rationale of {id}",
        observed=f"how {id} is seen",
        fix=f"how to fix {id}",
        editions=("lro-6400",),
    )


def check(id: str, verdict: Verdict, **changes: object) -> CheckResult:
    made = CheckResult(
        name=f"file.{id.lower().replace('-', '_')}",
        requirement=id,
        verdict=verdict,
        subjects=0 if verdict is Verdict.NOT_OBSERVED else 3,
        expected=f"expected of {id}",
        observed=f"observed of {id}",
        evidence='{"jsonrpc":"2.0","id":7,"method":"tools/call"}' if verdict is Verdict.FAIL else "",
        reproduce=f"printf '%s' {id} | serve" if verdict is Verdict.FAIL else "",
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def judged(
    id: str,
    verdict: Verdict,
    *,
    keyword: Keyword = "MUST",
    level: int | None = 1,
    group: str = "file",
    reason: str = "",
    **changes: object,
) -> RequirementResult:
    checks = () if reason else (check(id, verdict, **changes),)
    return RequirementResult(requirement(id, keyword=keyword, level=level, group=group), verdict, checks, reason)


def report(*results: RequirementResult, **changes: object) -> Report:
    made = Report(
        suite_version="0.1.0",
        edition="lro-6400",
        server=ServerInfo("memories", "1.4.0", ("python", "-m", "memories"), "2025-11-25"),
        implemented=True,
        claimed=None,
        levels={1: "proved", 2: "proved", 3: "proved"},
        achieved=3,
        requirements=results,
        seed=42,
        started_at="2026-11-21T10:15:00Z",
        duration_s=8.2141,
        starts=9,
        timeline=(
            Span("survey", "every result offloaded", "trial", 0.01, 1.2),
            Span("edges", "exact threshold", "trial", 1.21, 3.0, "a call had no answer"),
            Span("file.lro_file_01", "title of LRO-FILE-01", "check", 4.3, 0.25),
        ),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def mixed(**changes: object) -> Report:
    """One requirement of every verdict."""
    return report(
        judged("LRO-FILE-01", Verdict.PASS),
        judged("LRO-FILE-02", Verdict.PASS),
        judged("LRO-FILE-06", Verdict.FAIL),
        judged("LRO-SCOPE-05", Verdict.NOT_JUDGED, group="implemented", reason="inside of the server"),
        judged("LRO-SCOPE-02", Verdict.NOT_APPLICABLE, group="threshold", reason="no tool that searches"),
        judged("LRO-REC-04", Verdict.WARN, level=2, group="recipes", erratum=True),
        judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=2, group="cleanup", reason="no cleanup key in the profile"),
        judged("LRO-ERR-04", Verdict.ATTESTED, level=3, group="events", reason="our audit of May"),
        judged("LRO-GUI-03", Verdict.WARN, keyword="SHOULD", group="guidance"),
        judged("LRO-HARD-01", Verdict.ERROR, level=None, group="hardening"),
        **{"levels": {1: "failed", 2: "failed", 3: "failed"}, "achieved": 0, **changes},
    )


ATTACKS = {
    "an escape of a terminal": "\x1b]0;owned\x07\x1b[2J\x9b31m",
    "the end of a script": "</script><script>alert(1)</script><!-- <img src=x onerror=alert(1)>",
    "the end of a CDATA section": "]]><evil/>&amp;&#x1b;",
    "the end of a code block": "```\n~~~\n````` <b onclick=alert(1)> [x](javascript:alert(1)) ![x](http://evil.test/x.png)",
    "the end of a table": "a | b \\| c |\n|---|---|\n| d | e |\n\n# heading",
    "a command of a log": "\n::error file=x::owned\n   ::add-mask::x\n##[error]owned ##vso[task.complete]",
    "other directions": "\u202eright\u2066to\u2069left\u200b\U000e0041\u2028",
    "no text at all": "\x00\ud800\ufffe\uffff\r",
    "names of people and of places": "@everyone www.evil.test http://evil.test a@evil.test",
}
"""What a server may say to become more than text, by what it hopes to be."""


def hostile() -> Report:
    """A report in which a server has a say wherever it can, and uses it."""
    word = " ".join(ATTACKS.values())
    said = {
        "reproduce": f"printf %s '{word}' | serve",
        "location": word,
        "observed": word,
        "expected": word,
        "evidence": f'settings: {word}\n→ {{"x":"{word}"}}\n← {word}',
    }
    return report(
        judged("LRO-FILE-06", Verdict.FAIL, **said),
        judged("LRO-GUI-03", Verdict.WARN, keyword="SHOULD", group="guidance", **said),
        judged("LRO-CLN-01", Verdict.NOT_OBSERVED, level=2, group="cleanup", reason=word),
        judged("LRO-ERR-04", Verdict.ATTESTED, level=3, group="events", reason=word),
        judged("LRO-HARD-01", Verdict.ERROR, level=None, group="hardening", **said),
        server=ServerInfo(word, word, ("serve", word), word),
        notes=(word,),
        timeline=(Span("edges", "exact threshold", "trial", 0.0, 1.0, word),),
        levels={1: "failed", 2: "failed", 3: "failed"},
        achieved=0,
        baseline=(
            Acceptance("file.lro_file_06", "LRO-FILE-06", Verdict.FAIL, "2027-01-31", word, "expired"),
            Acceptance("file.lro_cln_01", "LRO-CLN-01", Verdict.NOT_OBSERVED, "2027-01-31", word, "accepted"),
        ),
    )
