"""What validation found, as text for people and grep, as JSON, as SARIF, or as annotations of GitHub."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TextIO

from lro_conformance.report.formats.github import command
from lro_conformance.report.sanitize import one_line
from lro_conformance.validate.cap import Capped
from lro_spec.findings import Excerpt, Finding

if TYPE_CHECKING:
    from lro_conformance.validate.document import Document


class UnreadableError(Exception):
    """A document cannot be read; the message says why."""


class Telling:
    """Tells the findings of documents, one document after the other, and sums up at the end.

    *most* findings are told over all documents, errors before warnings; the rest is counted. None tells all of them.
    """

    def __init__(
        self, form: str, stream: TextIO, most: int | None, *, quiet: bool, before: Callable[[], None] = lambda: None
    ) -> None:
        self.counts: Counter[str] = Counter(error=0, warning=0)
        """How many findings there are of each severity, also those that are not told."""
        self.rules: Counter[str] = Counter()
        """The same by rule."""
        self.told = 0
        self.unread = 0
        """Paths that could not be read, or whose kind could not be told."""
        self.skipped = 0
        """Files of a folder or pattern that are nothing of LRO's."""
        self._capped = Capped(most) if most is not None else None
        self._quiet = quiet
        self._before = before
        self._kinds: Counter[str] = Counter()
        self._lines = 0
        self._others = 0
        self._wrong: set[str] = set()
        self._form = _FORMS[form](stream)

    def tell(self, document: Document) -> None:
        """Reads a document and tells what is wrong with it.

        Raises `UnreadableError`, `UnknownKindError`, and `OSError` where what is told cannot be written.
        """
        found = self._counted(document)
        if self._capped is None:
            for finding in found:
                self._show(finding.path or document.path, finding)
        else:
            self._capped.take(document, found)
            for path, finding in self._capped.ready():
                self._show(path, finding)
        self._kinds[document.kind or ""] += 1
        self._kinds["file"] += document.followed
        self._lines += document.lines
        self._others += document.others

    def end(self) -> None:
        """Shows what is left, and sums up."""
        for path, finding in self._capped.rest() if self._capped is not None else ():
            self._show(path, finding)
        self._form.end(self)

    def sentence(self) -> str:
        """What was looked at and what came of it, in one line."""
        looked = ", ".join(_many(n, kind) for kind, n in self._kinds.items() if n)
        lines = f" ({_many(self._lines, 'line')})" if self._lines else ""
        others = f"; {_many(self._others, 'file')} of records that are no memories" if self._others else ""
        skipped = f"{others}; {_many(self.skipped, 'file')} of another kind passed over" if self.skipped else others
        if not self.counts.total():
            return f"nothing wrong: {looked}{lines}{skipped}"
        found = " and ".join(_many(n, severity) for severity, n in self.counts.items() if n)
        rest = self.counts.total() - self.told
        more = f", {rest:,} of them not shown (--max-findings 0 shows all)" if rest else ""
        where = f", in {len(self._wrong)} of {self.documents} documents" if self.documents > 1 else ""
        return f"{found}{more}{where}: {looked}{lines}{skipped}"

    def summary(self) -> dict[str, Any]:
        """The same for programs."""
        return {
            "counts": dict(self.counts),
            "rules": dict(sorted(self.rules.items())),
            "shown": self.told,
            "documents": {kind: n for kind, n in self._kinds.items() if n},
            "lines": self._lines,
            "passed_over": self.skipped,
        }

    @property
    def documents(self) -> int:
        """How many documents were judged."""
        return self._kinds.total()

    @property
    def quiet(self) -> bool:
        """True when nothing but findings is wanted."""
        return self._quiet

    def _show(self, path: str, finding: Finding) -> None:
        self._before()
        self._form.finding(path, finding)
        self.told += 1

    def _counted(self, document: Document) -> Iterator[Finding]:
        try:
            for finding in document.findings():
                self.counts[finding.severity] += 1
                self.rules[finding.rule] += 1
                self._wrong.add(finding.path or document.path)
                yield finding
        except OSError as problem:
            raise UnreadableError(problem.strerror or str(problem)) from problem


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def line(path: str, finding: Finding) -> str:
    """``path:line:column: LRO-FILE-06 /count: count is off: expected …, got … — hint``, harmless for a terminal."""
    return one_line(str(replace(finding, path=path)))


def marked(found: Excerpt, number: int | None) -> list[str]:
    """The line in question with its number, and a mark under the place."""
    from rich.cells import cell_len

    margin = f"{number if number is not None else '':>6} | "
    before = one_line(found.text[: found.mark])
    return [f"{margin}{before}{one_line(found.text[found.mark :])}", f"{'':>6} | {' ' * cell_len(before)}^"]


class _Text:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._styled = stream.isatty() and not os.environ.get("NO_COLOR")

    def finding(self, path: str, finding: Finding) -> None:
        text = line(path, finding)
        self._stream.write(self._coloured(text, finding) + "\n")
        if finding.excerpt is not None:
            source, mark = marked(finding.excerpt, finding.line)
            # Where only the line is known, there is no place to mark in it.
            below = f"{self._style(mark, 'green')}\n" if finding.column is not None else ""
            self._stream.write(f"{source}\n{below}")

    def end(self, telling: Telling) -> None:
        if telling.documents and not telling.quiet:
            self._stream.write(telling.sentence() + "\n")
        self._stream.flush()

    def _coloured(self, text: str, finding: Finding) -> str:
        place, rule, rest = text.partition(finding.rule)
        return f"{place}{self._style(rule, 'red' if finding.severity == 'error' else 'yellow')}{rest}"

    def _style(self, text: str, colour: str) -> str:
        import click

        return click.style(text, fg=colour) if self._styled else text


class _Json:
    """One object, a finding a line: valid JSON, and a million findings need no memory."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._separator = '{"findings": [\n'

    def finding(self, path: str, finding: Finding) -> None:
        self._stream.write(f"{self._separator}{json.dumps({**asdict(finding), 'path': path})}")
        self._separator = ",\n"

    def end(self, telling: Telling) -> None:
        start = '{"findings": [' if self._separator.startswith("{") else "\n"
        self._stream.write(f"{start}],\n{json.dumps(telling.summary())[1:]}\n")
        self._stream.flush()


class _Sarif:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._found: list[tuple[str, Finding]] = []

    def finding(self, path: str, finding: Finding) -> None:
        self._found.append((path, finding))

    def end(self, telling: Telling) -> None:
        from lro_conformance.report.formats import sarif
        from lro_conformance.version import version

        results = [
            sarif.Result(
                rule=finding.rule,
                message=one_line(finding.sentence) + (f". {finding.hint}" if finding.hint else ""),
                level=finding.severity,
                path=None if path == "-" else path,
                line=finding.line,
                column=finding.column,
                snippet=finding.excerpt.text if finding.excerpt is not None else "",
                place=finding.pointer,
                properties={"expected": finding.expected, "observed": finding.observed} if finding.expected else {},
            )
            for path, finding in self._found
        ]
        rules = {**sarif.requirement_rules(), **_other_rules()} if results else {}
        made = sarif.log(results, rules, version=version(), properties=telling.summary(), successful=not telling.unread)
        self._stream.write(sarif.text(made))
        self._stream.flush()


def _other_rules() -> dict[str, Any]:
    from lro_conformance.report.formats.sarif import Rule

    return {
        "json": Rule("json", "Strict JSON", "A document is strict JSON in UTF-8, which every reader takes alike."),
        "profile": Rule("profile", "Profiles are understood", "A profile has the keys and values of its schema."),
        "report": Rule("report", "Reports satisfy their schema", "A report satisfies report.schema.json."),
    }


class _GitHub:
    """Workflow commands: a run on GitHub shows them beside the line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def finding(self, path: str, finding: Finding) -> None:
        known = {"file": path, "line": finding.line, "col": finding.column, "title": finding.rule}
        where = f"{finding.pointer}: " if finding.pointer else ""
        hint = f"\n{finding.hint}" if finding.hint else ""
        self._stream.write(command(finding.severity, f"{where}{one_line(finding.sentence)}{hint}", known) + "\n")

    def end(self, telling: Telling) -> None:
        if telling.documents and not telling.quiet:
            self._stream.write(telling.sentence() + "\n")
        self._stream.flush()


_FORMS: dict[str, Callable[[TextIO], _Text | _Json | _Sarif | _GitHub]] = {
    "text": _Text,
    "json": _Json,
    "sarif": _Sarif,
    "github": _GitHub,
}
