"""Evaluation of foreign schemas, on either side of each edge, in this process and in a child."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, NoReturn

import pytest

from lro_spec.schema import line_schema, untrusted
from lro_spec.schema.fast import distinguishes_long_integers, foreign_fast_validator
from lro_spec.schema.line_schema import is_vacuous, judge_lines
from lro_spec.schema.untrusted import Judgement, SchemaChild, Violation, judge_here, judge_in_child, judge_of
from tests.support.children import children
from tests.support.paths import ROOT

RECORD = {"id": "a", "title": "A", "description": "d"}
DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def times(monkeypatch: pytest.MonkeyPatch, module: object, *now: float) -> None:
    """Replace the clock of a module by one that shows these times in turn."""
    shown = iter(now)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(shown)))


class Odd(dict[str, Any]):
    """A record that cannot be looked into."""

    def __init__(self, problem: BaseException) -> None:
        super().__init__()
        self._problem = problem

    def __contains__(self, name: object) -> NoReturn:
        raise self._problem


class PanicException(BaseException):
    """An exception like that of a library in Rust."""


class TestThisProcess:
    def test_ends_where_the_time_does(self, monkeypatch: pytest.MonkeyPatch) -> None:
        times(monkeypatch, untrusted, 100.0, 101.0, 102.0, 102.1, 102.2)
        assert judge_here({}, [{}] * 9, 10, 2.0) == Judgement(3, ())

    def test_judges_none_where_there_are_none(self) -> None:
        assert judge_here({}, [], 10, 2.0) == Judgement(0, ())

    @pytest.mark.parametrize(
        ("problem", "said"),
        [
            (AttributeError("x"), "line_schema cannot be evaluated: AttributeError: x"),
            (KeyError("x"), "line_schema cannot be evaluated: KeyError: 'x'"),
            (TypeError("x"), "line_schema cannot be evaluated: TypeError: x"),
            (RecursionError(), "line_schema recurses without end on this record"),
            (PanicException(), "line_schema recurses without end on this record"),
        ],
    )
    def test_goes_on_where_a_schema_cannot_be_evaluated(self, problem: BaseException, said: str) -> None:
        assert judge_of({"required": ["id"]})(Odd(problem)) == Violation("", said)

    @pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt])
    def test_ends_by_what_is_none_of_the_schemas_faults(self, problem: type[BaseException]) -> None:
        with pytest.raises(problem):
            judge_of({"required": ["id"]})(Odd(problem()))

    def test_tells_of_a_reference_to_nothing(self) -> None:
        found = judge_of({"$ref": "#/x"})({})
        assert found is not None
        assert found.message == "line_schema refers to '/x', which it does not contain; nothing is fetched"

    @pytest.mark.parametrize(
        ("schema", "value", "observed"),
        [
            ({"contains": {"type": "string"}}, [1], "[1] does not contain items matching the given schema"),
            ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2], "2"),
            ({"properties": {}, "unevaluatedProperties": False}, {"b": 1}, "'b'"),
            ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1, "c": 2}, "'b', 'c'"),
        ],
    )
    def test_shows_the_message_where_the_value_would_not_tell(self, schema: Any, value: Any, observed: str) -> None:
        found = judge_of(schema)(value)
        assert found is not None
        assert found.observed == observed

    @pytest.mark.parametrize(("pointer", "said"), [("", "m"), ("/a", "/a: m")])
    def test_tells_the_place_of_what_is_within(self, pointer: str, said: str) -> None:
        assert str(Violation(pointer, "m")) == said


class TestChild:
    """Judgements of the child process, whatever a schema or a record does to it."""

    MEMBERS: ClassVar = {"$ref": "#/$defs/x", "$defs": {"x": {"type": "object", "properties": {"a": {"$ref": "#"}}}}}
    BACKTRACKING: ClassVar = {"properties": {"a": {"pattern": "^(a|a)*$"}}}
    ENDLESS: ClassVar = {"a": "a" * 60 + "b"}

    def test_reports_each_record_that_violates(self) -> None:
        judgement = judge_in_child(self.MEMBERS, [{"a": {}}, {"a": {"a": 1}}, 5], 10, 5.0)
        assert (judgement.judged, judgement.stuck) == (3, False)
        assert [(index, found.pointer) for index, found in judgement.violations] == [(1, "/a/a"), (2, "")]

    def test_ends_at_the_limit_of_violations(self) -> None:
        judgement = judge_in_child(self.MEMBERS, [5] * 9, 2, 5.0)
        assert (judgement.judged, [index for index, _ in judgement.violations]) == (2, [0, 1])

    def test_a_record_that_takes_all_the_time_is_stuck_and_the_next_are_judged(self) -> None:
        message = "line_schema could not be evaluated on this record within 0.5 s and 1024 MiB of memory"
        with SchemaChild() as child:
            judgement = child.judge(self.BACKTRACKING, [{"a": "aa"}, self.ENDLESS, {"a": "a"}], 10, 0.5)
            assert judgement == Judgement(1, ((1, Violation("", message)),), stuck=True)
            assert child.judge(self.BACKTRACKING, [{"a": "a"}], 10, 5.0) == Judgement(1, ())

    def test_a_child_that_dies_is_stuck_on_the_first_record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(untrusted, "_JOB", CRASHING)
        message = "line_schema could not be evaluated on this record within 5 s and 1024 MiB of memory"
        expected = Judgement(0, ((0, Violation("", message)),), stuck=True)
        assert judge_in_child({"request": "signal"}, [{}], 10, 5.0) == expected

    def test_a_defect_of_the_job_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(untrusted, "_JOB", CRASHING)
        with pytest.raises(RuntimeError, match=r"(?s)^evaluating a line_schema failed: .*ZeroDivisionError"):
            judge_in_child({"request": "defect"}, [{}], 10, 5.0)

    def test_several_requests_share_a_process(self) -> None:
        earlier = children()  # fixtures of other tests may have some
        with SchemaChild() as child:
            assert child.judge(self.MEMBERS, [{}, 5], 10, 5.0).judged == 2
            before = children()
            assert child.judge({"$ref": "#/$defs/x", "$defs": {"x": {"required": ["b"]}}}, [{}], 10, 5.0).violations
            assert children() == before
        assert children() == earlier

    def test_finds_modules_relative_to_the_working_directory(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(sys, "path", ["", *(folder for folder in sys.path if folder not in ("", str(ROOT)))])
        assert judge_in_child(self.MEMBERS, [{}], 10, 5.0) == Judgement(1, ())


CRASHING = Path(__file__).parent.parent / "sandbox" / "crashing_job.py"


class TestLines:
    def test_are_judged_by_none_where_the_schema_is_none(self) -> None:
        judged = judge_lines({"type": "nonsense"}, [{}])
        assert (judged.judged, [index for index, _ in judged.violations]) == (0, [0])

    def test_are_judged_until_the_time_ends(self, monkeypatch: pytest.MonkeyPatch) -> None:
        times(monkeypatch, line_schema, 100.0, 101.0, 105.0, 105.1, 105.2)
        assert judge_lines({"type": "object"}, [{}] * 9, timeout_s=5) == Judgement(3, ())

    def test_are_judged_in_a_child_only_where_that_could_take_for_ever(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []

        def noted(where: str) -> Any:
            def judge(schema: object, records: Iterable[object], limit: int, timeout_s: float) -> Judgement:
                asked.append(where)
                return Judgement(len(list(records)), ())

            return judge

        for name in ("judge_here", "judge_in_child"):
            monkeypatch.setattr(untrusted, name, noted(name))
        judge_lines({"required": ["id"]}, [{}])
        judge_lines({"required": ["id"], "$dynamicRef": "#"}, [{}])
        assert asked == ["judge_here", "judge_in_child"]

    def test_have_half_a_second_of_a_schema_that_was_too_slow_for_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(line_schema, "_too_slow", set())
        given: list[float] = []

        def judge(schema: Any, records: Iterable[object], limit: int, timeout_s: float) -> Judgement:
            given.append(timeout_s)
            return Judgement(0, ((0, Violation("", "")),), stuck="slow" in schema)

        monkeypatch.setattr(untrusted, "judge_in_child", judge)
        slow, other = ({"$dynamicRef": "#", "required": ["id"], name: 1} for name in ("slow", "quick"))
        for schema in (other, slow, other, slow, dict(slow)):
            judge_lines(schema, [{}], timeout_s=5)
        judge_lines(slow, [{}], timeout_s=0.2)
        assert given == [5, 5, 5, 0.5, 0.5, 0.2]


class TestSayingNothing:
    def test_is_no_fault_of_what_refuses_the_last_of_some_records(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(line_schema, "foreign_fast_validator", lambda _: None)
        lacks_c = {"not": {"required": ["a", "b"], "not": {"required": ["c"]}}}
        assert is_vacuous(lacks_c, [{"a": "x", "b": "y", "c": "z"}]) is None

    def test_is_said_of_a_schema_with_a_title(self) -> None:
        whole = {"title": "Memory", "type": "object"}
        said = "line_schema names no field of the records and accepts them whatever their fields are"
        assert is_vacuous(whole, [RECORD]) == said
        assert "belong under properties" in str(is_vacuous({**whole, "id": "string"}, [RECORD]))

    @pytest.mark.parametrize(
        ("schema", "said"),
        [
            ({"anyOf": [False, {"type": "null"}]}, " and refuses every record"),
            ({"anyOf": [True, False], "minProperties": 1}, ""),
            ({"oneOf": [{"not": {}}, False]}, " and refuses every record"),
            ({"not": {"type": "object"}}, " and refuses every record"),
            ({"type": ["string", "null"]}, " and refuses every record"),
            ({"type": "string"}, " and refuses every record"),
            ({"not": True}, " and refuses every record"),
            ({"allOf": [{}, False]}, " and refuses every record"),
            ({"enum": [1, "a"]}, " and refuses every record"),
            ({"allOf": [True], "minProperties": 9}, ""),
            ({"type": ["object", "null"], "minProperties": 9}, ""),
            ({"type": "object", "minProperties": 1}, ""),
            ({"not": False, "minProperties": 1}, ""),
            # a const is nothing to this draft, so that something else refuses the one sample
            ({"$schema": DRAFT_4, "const": 1, "minProperties": 1}, ""),
        ],
    )
    def test_tells_whether_any_record_is_accepted(self, schema: Any, said: str) -> None:
        assert is_vacuous(schema, ()) == f"line_schema names no field of the records{said}"


class TestGates:
    @pytest.mark.parametrize(
        ("schema", "apart"),
        [
            ({"const": 2**64 - 1}, False),
            ({"const": 2**64}, True),
            ({"const": 1 - 2**63}, False),
            ({"const": -(2**63)}, True),
            ({"enum": [[{"a": -(2**70)}]]}, True),
            ({"maximum": 1e30}, True),
            ({"multipleOf": 1}, False),
            ({"multipleOf": 2}, True),
            ({"divisibleBy": 3}, True),
            ({"multipleOf": 0.5}, False),
        ],
    )
    def test_take_integers_of_64_bits_with_every_digit(self, schema: Any, apart: bool) -> None:
        assert distinguishes_long_integers(schema) is apart

    def test_read_no_file_that_a_schema_names(self, tmp_path: Path) -> None:
        own = tmp_path / "own.json"
        own.write_text(json.dumps({"$id": own.as_uri(), "$schema": "https://json-schema.org/draft/2020-12/schema"}))
        assert foreign_fast_validator({"$schema": own.as_uri(), "type": "object"}) is None


def test_the_records_need_not_be_a_list() -> None:
    def records() -> Iterator[dict[str, Any]]:
        yield {"id": "a"}
        yield {}

    judged = judge_lines({"required": ["id"]}, records())
    assert (judged.judged, [index for index, _ in judged.violations]) == (2, [1])
