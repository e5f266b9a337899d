"""Prints the findings of `lro validate`: as text for people and for grep, as JSON, as SARIF, or as GitHub
annotations."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, TextIO
from unicodedata import combining, east_asian_width

from lro_conformance.report.formats.github import command
from lro_conformance.report.sanitize import one_line
from lro_conformance.validate.alike import FindingGroups, SimilarFindings
from lro_conformance.validate.finding_quota import FindingQuota
from lro_spec.display import counted
from lro_spec.findings import Excerpt, Finding

if TYPE_CHECKING:
    from lro_conformance.validate.document import Document


class UnreadableError(Exception):
    """A document cannot be read; the message has the reason."""


class FindingsPrinter:
    """Prints the findings of documents, one document after the other, and a summary at the end.

    At most *limit* findings of all documents are shown, and errors have priority over warnings. The other findings are
    only counted. If *limit* is None, all findings are shown. If the *form* is ``text`` and there is a limit, similar
    findings (`FindingGroups`) are shown as one finding, and count as one finding for the limit. *before_each_finding*
    is called before each finding is printed.
    """

    def __init__(
        self,
        form: str,
        stream: TextIO,
        limit: int | None,
        *,
        quiet: bool,
        before_each_finding: Callable[[], None] = lambda: None,
    ) -> None:
        self.counts: Counter[str] = Counter(error=0, warning=0)
        """Number of findings by severity, including those that are not shown."""
        self.rules: Counter[str] = Counter()
        """Number of findings by rule, including those that are not shown."""
        self.shown = 0
        """Number of findings that are shown. If a group is shown as one finding, all findings of the group are
        counted."""
        self.unread = 0
        """Number of paths that could not be read, or whose kind could not be detected."""
        self.skipped = 0
        """Number of files of a directory or pattern that are not documents of LRO."""
        self._quota = FindingQuota(limit) if limit is not None else None
        self._groups = FindingGroups() if limit is not None and form == "text" else None
        self._quiet = quiet
        self._before_each_finding = before_each_finding
        self._kinds: Counter[str] = Counter()
        self._lines = 0
        self._files_without_memories = 0
        self._paths_with_findings: set[str] = set()
        self._form = _FORMS[form](stream)

    def add(self, document: Document) -> None:
        """Read a document, and print its findings. Findings for which it is not yet known whether they will be shown
        are kept.

        Raises `UnreadableError` if the document cannot be read. Raises `UnknownKindError` in the same cases as
        `Document.findings`. Raises `OSError` if the output cannot be written.
        """
        found = self._counted(document)
        if self._quota is None:
            for finding in found:
                self._show(finding.path or document.path, finding)
        else:
            if self._groups is not None:
                found = self._groups.first_of_each_group(found, is_of_lines=lambda: document.kind == "file")
            self._quota.add(document, found)
            for path, finding in self._quota.ready():
                self._show(path, finding)
        self._kinds[document.kind or ""] += 1
        self._kinds["file"] += document.followed
        self._lines += document.lines
        self._files_without_memories += document.files_without_memories

    def end(self) -> None:
        """Print the remaining findings and the summary."""
        for path, finding in self._quota.rest() if self._quota is not None else ():
            self._show(path, finding)
        self._form.end(self)

    def sentence(self) -> str:
        """The summary in one line."""
        validated = ", ".join(counted(n, kind) for kind, n in self._kinds.items() if n)
        lines = f" ({counted(self._lines, 'line')})" if self._lines else ""
        others = (
            f"; {counted(self._files_without_memories, 'file')} of records that are not memories"
            if self._files_without_memories
            else ""
        )
        skipped = f"{others}; {counted(self.skipped, 'other file')} skipped" if self.skipped else others
        if not self.counts.total():
            return f"nothing wrong: {validated}{lines}{skipped}"
        found = " and ".join(counted(n, severity) for severity, n in self.counts.items() if n)
        rest = self.counts.total() - self.shown
        more = f", {rest:,} of them not shown (--max-findings 0 shows all)" if rest else ""
        where = f", in {len(self._paths_with_findings)} of {self.documents} documents" if self.documents > 1 else ""
        return f"{found}{more}{where}: {validated}{lines}{skipped}"

    def summary(self) -> dict[str, Any]:
        """The summary as data, for JSON and SARIF."""
        return {
            "counts": dict(self.counts),
            "rules": dict(sorted(self.rules.items())),
            "shown": self.shown,
            "documents": {kind: n for kind, n in self._kinds.items() if n},
            "lines": self._lines,
            "passed_over": self.skipped,
        }

    @property
    def documents(self) -> int:
        """Number of validated documents, including files that were validated because they are named by descriptors."""
        return self._kinds.total()

    @property
    def quiet(self) -> bool:
        """True if only findings are printed."""
        return self._quiet

    def _show(self, path: str, finding: Finding) -> None:
        self._before_each_finding()
        alike = self._groups.of(finding) if self._groups is not None else SimilarFindings(finding)
        self._form.finding(path, finding)
        if isinstance(self._form, _Text):
            self._form.others(alike)
        self.shown += alike.size

    def _counted(self, document: Document) -> Iterator[Finding]:
        try:
            for finding in document.findings():
                self.counts[finding.severity] += 1
                self.rules[finding.rule] += 1
                self._paths_with_findings.add(finding.path or document.path)
                yield finding
        except OSError as problem:
            raise UnreadableError(problem.strerror or str(problem)) from problem


def line(path: str, finding: Finding) -> str:
    """A finding in one line, escaped for a terminal. The line has the form ``path:line:column: LRO-FILE-06 /count:
    count is wrong: expected …, got … — hint``."""
    return one_line(str(replace(finding, path=path)))


def excerpt_lines(found: Excerpt, number: int | None) -> list[str]:
    """Two lines for a terminal: the line in which a finding is, with its number, and a mark under the column."""
    margin = f"{number if number is not None else '':>6} | "
    before = one_line(found.text[: found.mark])
    return [f"{margin}{before}{one_line(found.text[found.mark :])}", f"{'':>6} | {' ' * _columns(before)}^"]


def _columns(text: str) -> int:
    """Number of columns that a text takes in a terminal. A wide character takes two columns. A character that is
    combined with the character before it takes none."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


class _Text:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._styled = stream.isatty() and not os.environ.get("NO_COLOR")

    def finding(self, path: str, finding: Finding) -> None:
        text = line(path, finding)
        self._stream.write(self._coloured(text, finding) + "\n")
        self._excerpt(finding)

    def others(self, alike: SimilarFindings) -> None:
        """Write the lines of the findings that are similar to the last one."""
        for finding in alike.lines:
            self._excerpt(finding)
        if alike.rest:
            self._stream.write(f"{'':>6} | {alike.rest}\n")

    def _excerpt(self, finding: Finding) -> None:
        if finding.excerpt is not None:
            source, mark = excerpt_lines(finding.excerpt, finding.line)
            # If the finding has no column, no place can be marked.
            below = f"{self._style(mark, 'green')}\n" if finding.column is not None else ""
            self._stream.write(f"{source}\n{below}")

    def end(self, printer: FindingsPrinter) -> None:
        if printer.documents and not printer.quiet:
            self._stream.write(printer.sentence() + "\n")
        self._stream.flush()

    def _coloured(self, text: str, finding: Finding) -> str:
        place, rule, rest = text.partition(finding.rule)
        return f"{place}{self._style(rule, 'red' if finding.severity == 'error' else 'yellow')}{rest}"

    def _style(self, text: str, colour: str) -> str:
        import click

        return click.style(text, fg=colour) if self._styled else text


class _Json:
    """One JSON object with a finding on each line. It is written piece by piece, so that findings are not kept in
    memory."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._separator = '{"findings": [\n'

    def finding(self, path: str, finding: Finding) -> None:
        self._stream.write(f"{self._separator}{json.dumps({**asdict(finding), 'path': path})}")
        self._separator = ",\n"

    def end(self, printer: FindingsPrinter) -> None:
        start = '{"findings": [' if self._separator.startswith("{") else "\n"
        self._stream.write(f"{start}],\n{json.dumps(printer.summary())[1:]}\n")
        self._stream.flush()


class _Sarif:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._found: list[tuple[str, Finding]] = []

    def finding(self, path: str, finding: Finding) -> None:
        self._found.append((path, finding))

    def end(self, printer: FindingsPrinter) -> None:
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
                logical_location=finding.pointer,
                properties={"expected": finding.expected, "observed": finding.observed} if finding.expected else {},
            )
            for path, finding in self._found
        ]
        rules = {**sarif.requirement_rules(), **_other_rules()} if results else {}
        log = sarif.sarif_log(
            results, rules, version=version(), properties=printer.summary(), successful=not printer.unread
        )
        self._stream.write(sarif.as_json(log))
        self._stream.flush()


def _other_rules() -> dict[str, Any]:
    from lro_conformance.report.formats.sarif import Rule

    return {
        "json": Rule(
            "json", "Strict JSON", "A document is strict JSON in UTF-8, so that every parser reads it in the same way."
        ),
        "profile": Rule("profile", "Profiles are understood", "A profile has the keys and values of its schema."),
        "report": Rule("report", "Reports satisfy their schema", "A report satisfies report.schema.json."),
    }


class _GitHub:
    """Workflow commands. GitHub shows them as annotations next to the lines of the files."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def finding(self, path: str, finding: Finding) -> None:
        properties = {"file": path, "line": finding.line, "col": finding.column, "title": finding.rule}
        where = f"{finding.pointer}: " if finding.pointer else ""
        hint = f"\n{finding.hint}" if finding.hint else ""
        self._stream.write(command(finding.severity, f"{where}{one_line(finding.sentence)}{hint}", properties) + "\n")

    def end(self, printer: FindingsPrinter) -> None:
        if printer.documents and not printer.quiet:
            self._stream.write(printer.sentence() + "\n")
        self._stream.flush()


_FORMS: dict[str, Callable[[TextIO], _Text | _Json | _Sarif | _GitHub]] = {
    "text": _Text,
    "json": _Json,
    "sarif": _Sarif,
    "github": _GitHub,
}
