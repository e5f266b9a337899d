"""What holds of the suite as a whole: requirements, checks, trials, faults and documents belong together."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest

from lro_conformance import checks as package
from lro_conformance.capture.overall import OVERALL
from lro_conformance.judging.check import checks, checks_of
from lro_conformance.judging.derived import captured
from lro_conformance.judging.verdicts import Verdict, requirement_verdict
from lro_conformance.trials import closure, trials
from lro_spec.catalogue import catalogue
from lro_spec.editions import EDITIONS
from tests.servers.faults.catalogue import faults
from tests.servers.run import find
from tests.servers.sound.catalogue import sounds
from tests.support.paths import ROOT

JUDGED = {r.id: r for r in catalogue() if r.excluded is None}
ANYWHERE = {r.id for name in EDITIONS for r in catalogue(name) if r.excluded is None}
EXCLUDED = {r.id: r for r in catalogue() if r.excluded is not None}


def words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z]{2,}", text)


# Requirements and checks


def test_every_requirement_has_a_check_or_a_reasoned_exclusion() -> None:
    assert [id for id in ANYWHERE if not checks_of(id)] == []
    assert [id for id, r in EXCLUDED.items() if len(words(str(r.excluded))) < 4] == []


def test_what_is_excluded_has_no_check() -> None:
    assert [c.name for c in checks() if c.requirement not in ANYWHERE] == []


def test_names_of_checks_are_unique() -> None:
    assert [name for name, times in Counter(c.name for c in checks()).items() if times > 1] == []


def test_every_trial_is_made_for_some_check() -> None:
    needed = {t.name for t in closure(n for n in captured(n for c in checks() for n in c.needs) if n != OVERALL)}
    assert needed == set(trials())


def test_every_check_examines_evidence() -> None:
    assert [c.name for c in checks() if not c.needs] == []


# Checks judge, they do not look

PURE = {"basename", "commonpath", "dirname", "isabs", "join", "normpath", "split", "splitext"}
"""Functions of os.path that say nothing of the machine they run on."""

FORBIDDEN_MODULES = {"glob", "io", "pathlib", "shutil", "socket", "subprocess", "urllib"}
FORBIDDEN_NAMES = {"open", "exec", "eval", "compile", "input", "print", "__import__", "real_path", "see_file"}
PURE_PATHS = {"is_relative_to", "is_absolute", "relative_to", "name", "parent", "parents", "parts", "stem", "suffix"}
METHODS_OF_PATHS = {name for name in dir(Path) if not name.startswith("_")} - PURE_PATHS - set(dir(str))


def looks(path: Path) -> set[tuple[str, str]]:
    """What a module calls or imports that touches the machine, as the module's name and the words in its source."""
    found: set[str] = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            imported = {a.name for a in node.names}
            found |= {m for m in modules if m.partition(".")[0] in FORBIDDEN_MODULES and imported != {"Path"}}
            if isinstance(node, ast.ImportFrom) and node.module in ("os", "os.path", "tempfile", "time"):
                found.add(node.module)
        elif isinstance(node, ast.Name) and node.id in FORBIDDEN_NAMES:
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            text = ast.unparse(node)
            if re.match(r"(os|tempfile|time)\.", text) and text != "os.path" and not pure(text):
                found.add(text)
            elif isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "Path":
                found |= {f"Path(…).{node.attr}"} if node.attr in METHODS_OF_PATHS else set()
    return {(path.name, text) for text in found}


def pure(text: str) -> bool:
    return text.startswith("os.path.") and text.split(".")[2] in PURE


CHECK_MODULES = sorted(Path(package.__path__[0]).glob("test_*.py"))


def test_checks_do_no_input_or_output() -> None:
    assert set().union(*map(looks, CHECK_MODULES)) == set()


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("open('x')", "open"),
        ("import subprocess", "subprocess"),
        ("from pathlib import Path, PosixPath", "pathlib"),
        ("os.stat('x')", "os.stat"),
        ("os.path.exists('x')", "os.path.exists"),
        ("Path('x').read_bytes()", "Path(…).read_bytes"),
        ("time.sleep(1)", "time.sleep"),
        ("from os import stat", "os"),
    ],
)
def test_input_and_output_would_be_found(line: str, seen: str, tmp_path: Path) -> None:
    module = tmp_path / "test_x.py"
    module.write_text(f"{line}\nos.path.join('a', 'b')\nPath('x').name\n", encoding="utf-8")
    assert looks(module) == {("test_x.py", seen)}


# Faults and sound servers


def test_every_requirement_has_a_fault_and_a_must_has_two() -> None:
    have = Counter(fault.requirement for fault in faults().values())
    wanted = {id: 2 if r.keyword == "MUST" else 1 for id, r in JUDGED.items()}
    assert {id: have[id] for id, least in wanted.items() if have[id] < least} == {}


def test_a_fault_names_requirements_that_are_judged() -> None:
    named = {name: {fault.requirement, *fault.also} for name, fault in faults().items()}
    assert {name: ids - set(JUDGED) for name, ids in named.items() if ids - set(JUDGED)} == {}
    assert [name for name, fault in faults().items() if fault.requirement in fault.also] == []


def test_a_fault_says_what_its_blame_must_say() -> None:
    assert [name for name, fault in faults().items() if not fault.says.strip()] == []


def test_a_fault_of_a_must_costs_its_level() -> None:
    """Proving the level in spite of the fault would mean that the requirement does not bind there."""
    for name, fault in faults().items():
        r = JUDGED[fault.requirement]
        binds = r.level if r.keyword == "MUST" else None
        assert fault.proves <= (3 if binds is None else binds - 1), name


def test_a_sound_server_names_requirements_that_are_judged() -> None:
    assert {name: s.warns for name, s in sounds().items() if not set(s.warns) <= set(JUDGED)} == {}


def test_only_what_may_warn_is_allowed_to() -> None:
    """A SHOULD that is not met, an erratum of the text, which only its recipes have, or a threshold of 0 that is none
    (docs/levels.md)."""
    allowed = {id for id, r in JUDGED.items() if r.keyword == "SHOULD" or r.group == "recipes"} | {"LRO-CFG-02"}
    assert {name: s.warns for name, s in sounds().items() if not set(s.warns) <= allowed} == {}


def test_every_server_is_found_by_its_name() -> None:
    servers = [*faults().values(), *sounds().values()]
    assert [s.name for s in servers if find(s.name) != s.server.__module__] == []


def test_no_two_servers_share_a_name() -> None:
    assert set(faults()) & set(sounds()) == set()


def test_every_server_says_what_it_is() -> None:
    assert [name for name, fault in faults().items() if not fault.about.endswith(".")] == []
    assert [name for name, sound in sounds().items() if len(words(sound.why)) < 2] == []


# Verdicts


def test_verdicts_have_one_order_and_one_label_each() -> None:
    assert len({v.value for v in Verdict}) == len({v.label for v in Verdict}) == len(list(Verdict))
    assert [Verdict.of(v.label) for v in Verdict] == sorted(Verdict)
    assert max(Verdict) is Verdict.ERROR


def test_checks_come_in_the_same_order_whatever_was_imported_before() -> None:
    """Property checks go by it, and a seed has to replay."""
    program = "import {}; from lro_conformance.judging.check import checks; print(*(c.name for c in checks()))"
    first, last = (
        subprocess.run(
            [sys.executable, "-c", program.format(f"lro_conformance.checks.{module}")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for module in ("test_cleanup", "test_edge_cases")
    )
    assert first == last
    assert first.split() == [c.name for c in checks()]


def test_a_roll_up_does_not_depend_on_the_order_of_checks() -> None:
    for three in permutations(Verdict, 3):
        assert requirement_verdict(three) == requirement_verdict(sorted(three))


@pytest.mark.parametrize("worst", [Verdict.WARN, Verdict.FAIL, Verdict.ERROR])
def test_nothing_hides_a_worse_verdict(worst: Verdict) -> None:
    for other in Verdict:
        assert requirement_verdict([other, worst], attested=True) >= worst


# Documents


def test_the_docs_list_the_verdicts_that_there_are() -> None:
    text = (ROOT / "docs/levels.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| ([a-z-]+) \| .* \| .* \|$", text.partition("## Verdicts")[2], re.MULTILINE)[1:] == [
        v.label for v in Verdict
    ]


DETECTION = ROOT / "docs/detection.md"
detected = pytest.mark.skipif(not DETECTION.exists(), reason="tests/tools/detection.py has not written the page yet")


@detected
def test_the_table_of_faults_in_the_docs_is_that_of_the_catalogue() -> None:
    text = DETECTION.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (LRO-\w+-\d\d) \|", text, re.MULTILINE)
    assert [(name, id) for name, _, id in rows] == [(name, f.requirement) for name, f in faults().items()]


@detected
def test_the_table_of_sound_servers_in_the_docs_is_that_of_the_catalogue() -> None:
    text = DETECTION.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| .* \| (nothing|accused)", text, re.MULTILINE)
    assert [name for name, _ in rows] == list(sounds())
    assert {blamed for _, blamed in rows} == {"nothing"}
