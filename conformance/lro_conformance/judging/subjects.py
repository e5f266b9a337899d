"""Subjects that a check examines, and the rendering of the first one that is not as expected."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch


@singledispatch
def evidence_of(at: object) -> str:
    """The text that shows a subject. Captured records register a rendering of their own."""
    return "" if at is None else str(at)


@singledispatch
def reproducer_of(at: object) -> str:
    """A bash script that reproduces a subject; empty if there is none."""
    return ""


@singledispatch
def location_of(at: object) -> str:
    """The location of a subject in recorded evidence (`CheckResult.location`); empty if nothing is recorded."""
    return ""


@singledispatch
def place_of(at: object) -> str:
    """The place in a document at which a subject is wrong (`CheckResult.place`); empty if there is none."""
    return ""


@singledispatch
def hindrance_of(at: object) -> str | None:
    """The reason why a subject that is not as expected is no miss, such as a full disk; None if there is no such
    reason."""
    return None


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a file or descriptor that shows what is wrong."""

    lines: tuple[str, ...]
    """Lines of evidence that show the part, mostly underlined."""
    number: int | None = None
    """Number of the part's line in the file, from 1; None if the part is not in a file."""
    at: int = 0
    """Index of the part in that line, in characters."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A subject with the part of its file or descriptor that is wrong."""

    subject: object
    mark: Mark | None = None
    place: str = ""
    """The place in a document; see `place_of`."""


@evidence_of.register
def _(marked: Marked) -> str:
    return "\n".join((evidence_of(marked.subject), *(() if marked.mark is None else marked.mark.lines)))


@location_of.register
def _(marked: Marked) -> str:
    return location_of(marked.subject)


@place_of.register
def _(marked: Marked) -> str:
    return marked.place


@hindrance_of.register
def _(marked: Marked) -> str | None:
    return hindrance_of(marked.subject)


SHARED_FILE = "a file that several calls name"
"""The place of a miss in a file that several calls name: a different call may have caused the miss."""

IN_FLIGHT = "a call that was in flight with others"
"""The place of a miss of a call that was in flight with others, or of its file: a different call may have caused the
miss."""

STATED_ESTIMATE = "the E that headers state"
"""The place of a miss whose cause may be that headers state a number other than the one that the server compares with
the threshold."""

STATED_TIME = "the time that header and name state"
"""The place of a wrong time, if the header and the name of the file both state it."""

INDIRECT = frozenset((SHARED_FILE, IN_FLIGHT, STATED_ESTIMATE))
"""Places of misses whose cause may be that a different requirement is violated."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A subject that was not as expected."""

    expected: str
    observed: str
    evidence: str = ""
    reproduce: str = ""
    """A bash script that reproduces it."""
    location: str = ""
    """Its location in recorded evidence."""
    place: str = ""
    """Its place in a document; failures at the same place are likely to have one cause."""

    @classmethod
    def of(cls, expected: str, observed: str, at: object = None, *, evidence: str = "") -> Miss:
        """A miss that the subject *at* shows; *evidence* comes before the evidence of *at*."""
        shown = "\n".join(text for text in (evidence, evidence_of(at)) if text)
        return cls(expected, observed, shown, reproducer_of(at), location_of(at), place_of(at))


@dataclass(slots=True)
class Subjects:
    """Subjects that a check examines. Every `expect` counts one subject, except one that is not as expected but has a
    hindrance; `erratum` and `warn` count one, too."""

    examined: int = 0
    misses: list[Miss] = field(default_factory=list[Miss])
    errata: list[Miss] = field(default_factory=list[Miss])
    warnings: list[Miss] = field(default_factory=list[Miss])
    not_observed_because: list[str] = field(default_factory=list[str])
    hindrances: list[str] = field(default_factory=list[str])
    """Reasons why subjects that were not as expected are no misses. If there are any, the check cannot pass."""
    not_applicable_because: str | None = None

    def expect(
        self, holds: bool, *, expected: str, observed: str, at: object = None, despite_hindrance: bool = False
    ) -> bool:
        """Examine one subject, and return *holds*: whether it is as *expected*. *observed* is reported if it is not.

        *at*, usually a call, shows the subject. A subject that is not as expected and has a hindrance (`hindrance_of`)
        is no miss and is not counted. *despite_hindrance* is True for an expectation that only the server itself can
        fail, so that hindrances are ignored.
        """
        if not holds and not despite_hindrance and (hindrance := hindrance_of(at)) is not None:
            self.hindrances.append(hindrance)
            return holds
        self.examined += 1
        if not holds:
            self._note(expected, observed, at)
        return holds

    def _note(self, expected: str, observed: str, at: object) -> None:
        """Note a miss. Only the first is reported, so the others are not rendered. If the place of the first miss is in
        `INDIRECT`, the next miss whose place is not comes before it and is reported in its stead."""
        if not self.misses:
            self.misses.append(Miss.of(expected, observed, at))
        elif self.misses[0].place in INDIRECT and place_of(at) not in INDIRECT:
            self.misses.insert(0, Miss.of(expected, observed, at))
        else:
            self.misses.append(Miss(expected, observed))

    def erratum(self, *, expected: str, observed: str, at: object = None) -> None:
        """Note a defect of the specification that was observed. It is a warning, never a failure of the server. Only
        the first is reported, so the others are not rendered."""
        self.examined += 1
        self.errata.append(Miss(expected, observed) if self.errata else Miss.of(expected, observed, at))

    def warn(self, *, expected: str, observed: str, at: object = None) -> None:
        """Note a value that the requirement allows, but that readers may not understand. Only the first is reported."""
        self.examined += 1
        self.warnings.append(Miss(expected, observed) if self.warnings else Miss.of(expected, observed, at))

    def not_observed(self, reason: str) -> None:
        """Note why something could not be examined."""
        if reason not in self.not_observed_because:
            self.not_observed_because.append(reason)

    def inconclusive(self, reason: str) -> None:
        """Note why the subjects examined so far are not enough for a pass. Misses, errata and warnings still count."""
        self.not_observed(reason)
        if not self.misses:
            self.examined = 0

    def not_applicable(self, reason: str) -> None:
        """Note that the requirement does not bind this server."""
        self.not_applicable_because = reason
