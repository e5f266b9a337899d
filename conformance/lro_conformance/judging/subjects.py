"""Subjects that a check examines, and the rendering of the first subject that is not as expected.

A *subject* is one thing that a check examines, such as a call with its file. A *miss* is a subject that is not as
expected; it makes the check fail. A *hindrance* is an outside reason for a miss, such as a full disk. A *place* says
where in a document a subject is wrong, so that failures with the same cause can be grouped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch


@singledispatch
def evidence_of(subject: object) -> str:
    """The text that shows a subject to a reader. By default, this is the subject as a string. The modules that define
    captured records register other texts for them."""
    return "" if subject is None else str(subject)


@singledispatch
def reproducer_of(subject: object) -> str:
    """A bash script that reproduces a subject; empty if there is no such script."""
    return ""


@singledispatch
def location_of(subject: object) -> str:
    """The location of a subject in recorded evidence (`CheckResult.location`); empty if nothing is recorded."""
    return ""


@singledispatch
def place_of(subject: object) -> str:
    """The place in a document at which a subject is wrong (`CheckResult.place`); empty if no place is known."""
    return ""


@singledispatch
def hindrance_of(subject: object) -> str | None:
    """The outside reason why a subject is not as expected, such as a full disk. The subject then does not count as a
    miss. None if there is no such reason."""
    return None


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a file or descriptor that shows what is wrong."""

    lines: tuple[str, ...]
    """Lines that are added to the evidence to show the part. In most cases, the part is underlined in them."""
    number: int | None = None
    """Number of the line of the file in which the part is, from 1; None if the part is not in a file."""
    index: int = 0
    """Index in the line at which the part begins, in characters."""


@dataclass(frozen=True, slots=True)
class MarkedSubject:
    """A subject, together with a mark of what is wrong in it: the part of its file or descriptor, the place, or
    both."""

    subject: object
    mark: Mark | None = None
    place: str = ""
    """The place in a document; see `place_of`."""


@evidence_of.register
def _(marked: MarkedSubject) -> str:
    return "\n".join((evidence_of(marked.subject), *(() if marked.mark is None else marked.mark.lines)))


@location_of.register
def _(marked: MarkedSubject) -> str:
    return location_of(marked.subject)


@place_of.register
def _(marked: MarkedSubject) -> str:
    return marked.place


@hindrance_of.register
def _(marked: MarkedSubject) -> str | None:
    return hindrance_of(marked.subject)


SHARED_FILE = "a file that several calls name"
"""The place of a miss in a file that is named by several calls. The cause of the miss may be a different call."""

CONCURRENT_CALL = "a call that was in flight with others"
"""The place of a miss in a call, or in the file of a call, that was made while other calls were pending. The cause of
the miss may be a different call."""

ESTIMATE_IN_HEADERS = "the E that headers state"
"""The place of a miss that concerns E, the server's estimate of the tokens of a result. The suite reads E in the
headers of files. The cause of the miss may be that the server compares a different number with the threshold."""

TIME_IN_HEADER_AND_NAME = "the time that header and name state"
"""The place of a wrong time that is stated both in the header and in the name of a file."""

OPERATION_EVERYWHERE = "the operation that header, name and summary state"
"""The place of a wrong operation that is stated in all three places."""

DETAIL_EVERYWHERE = "the detail level that header and summary state"
"""The place of a wrong detail level that is stated in both places."""

PLACES_OF_INDIRECT_CAUSES = frozenset((SHARED_FILE, CONCURRENT_CALL, ESTIMATE_IN_HEADERS))
"""Places of misses whose cause may be that a different requirement is violated."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A subject that was not as expected."""

    expected: str
    observed: str
    evidence: str = ""
    reproduce: str = ""
    """A bash script that reproduces the subject."""
    location: str = ""
    """The location of the subject in recorded evidence."""
    place: str = ""
    """The place in a document at which the subject is wrong. Failures at the same place are likely to have one
    cause."""

    @classmethod
    def of(cls, expected: str, observed: str, subject: object = None, *, evidence: str = "") -> Miss:
        """Return a miss that is shown by *subject*. *evidence* is a text to show before the evidence of the subject."""
        full_evidence = "\n".join(text for text in (evidence, evidence_of(subject)) if text)
        return cls(expected, observed, full_evidence, reproducer_of(subject), location_of(subject), place_of(subject))


@dataclass(slots=True)
class Subjects:
    """Counts the subjects that a check examines, and collects what is reported about them.

    Each call of `expect`, `erratum` or `warn` counts one subject. There is one exception: `expect` does not count a
    subject that is not as expected because of a hindrance.
    """

    examined: int = 0
    misses: list[Miss] = field(default_factory=list[Miss])
    errata: list[Miss] = field(default_factory=list[Miss])
    warnings: list[Miss] = field(default_factory=list[Miss])
    not_observed_because: list[str] = field(default_factory=list[str])
    hindrances: list[str] = field(default_factory=list[str])
    """Outside reasons why subjects were not as expected; such subjects are not misses. With a hindrance, a check cannot
    pass."""
    not_applicable_because: str | None = None

    def expect(
        self, holds: bool, *, expected: str, observed: str, subject: object = None, despite_hindrance: bool = False
    ) -> bool:
        """Examine one subject, and return *holds*, which is True if the subject is as *expected*. If it is not,
        *observed* is reported.

        *subject* is usually a call. Its evidence is shown in the report. If the subject is not as expected but has a
        hindrance (`hindrance_of`), it is not a miss and is not counted. *despite_hindrance* is True if only the server
        itself can be the cause when *holds* is false; hindrances are then ignored.
        """
        if not holds and not despite_hindrance and (hindrance := hindrance_of(subject)) is not None:
            self.hindrances.append(hindrance)
            return holds
        self.examined += 1
        if not holds:
            self._note(expected, observed, subject)
        return holds

    def _note(self, expected: str, observed: str, subject: object) -> None:
        """Note a miss. Only the first miss in `misses` is reported, so the others are not rendered.

        If the place of the first miss is in `PLACES_OF_INDIRECT_CAUSES`, a later miss is better to report: as soon as
        there is a miss with any other place, it is put in front.
        """
        if not self.misses:
            self.misses.append(Miss.of(expected, observed, subject))
        elif self.misses[0].place in PLACES_OF_INDIRECT_CAUSES and place_of(subject) not in PLACES_OF_INDIRECT_CAUSES:
            self.misses.insert(0, Miss.of(expected, observed, subject))
        else:
            self.misses.append(Miss(expected, observed))

    def erratum(self, *, expected: str, observed: str, subject: object = None) -> None:
        """Note a defect of the specification that was observed. It is a warning, never a failure of the server. Only
        the first defect is reported, so the others are not rendered."""
        self.examined += 1
        self.errata.append(Miss(expected, observed) if self.errata else Miss.of(expected, observed, subject))

    def warn(self, *, expected: str, observed: str, subject: object = None) -> None:
        """Note a value that the requirement allows, but that some readers may not understand. Only the first such value
        is reported."""
        self.examined += 1
        self.warnings.append(Miss(expected, observed) if self.warnings else Miss.of(expected, observed, subject))

    def not_observed(self, reason: str) -> None:
        """Note why something could not be examined."""
        if reason not in self.not_observed_because:
            self.not_observed_because.append(reason)

    def inconclusive(self, reason: str) -> None:
        """Note why the subjects examined so far are not enough for the verdict *pass*. Misses, errata and warnings
        still count."""
        self.not_observed(reason)
        if not self.misses:
            self.examined = 0

    def not_applicable(self, reason: str) -> None:
        """Note that the requirement does not bind this server."""
        self.not_applicable_because = reason
