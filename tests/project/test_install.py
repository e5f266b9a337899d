"""A light installation: what validation imports, what the extras add, and what a command without its packages says."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lro_conformance.errors import EXTRAS, missing_extra
from tests.support.paths import DATA, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WITHOUT = f"""import sys
sys.modules.update(dict.fromkeys({sorted(frozenset().union(*EXTRAS.values()))!r}))
from lro_conformance.cli.main import main
sys.exit(main(sys.argv[1:]))"""


def lro(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """`lro` where no package of an extra can be imported."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], capture_output=True, text=True, check=False, cwd=cwd, timeout=60
    )


@pytest.mark.parametrize(
    "words",
    [
        ("validate", str(DATA / "reports" / "sample.json")),
        ("requirements",),
        ("explain", "LRO-THR-07"),
        ("schema", "descriptor"),
        ("compare", str(DATA / "reports" / "equal.json"), str(DATA / "reports" / "equal.json")),
        ("vectors", "list"),
        ("certify", "--help"),
    ],
    ids=lambda words: words[0],
)
def test_what_needs_no_server_needs_no_extra(words: tuple[str, ...]) -> None:
    done = lro(*words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("certify", "--", "lro", "serve"), "certify"),
        (("serve",), "proxy"),
        (("compare", "a.json", "a.json", "--html", "x.html"), "certify"),
        (("bench", "run"), "bench"),
    ],
)
def test_a_command_without_its_packages_says_in_one_line_what_to_install(
    words: tuple[str, ...], extra: str, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_bytes((DATA / "reports" / "equal.json").read_bytes())
    done = lro(*words, cwd=tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert done.stderr.endswith(f"pip install 'lro-spec[{extra}]'\n")


def test_extras_have_the_packages_that_commands_name() -> None:
    base = " ".join(PROJECT["dependencies"])
    for extra, packages in EXTRAS.items():
        named = " ".join(PROJECT["optional-dependencies"][extra])
        direct = {p for p in packages if p.replace("_", "-") in named}
        assert direct, extra
        assert all(p.replace("_", "-") not in base for p in packages), extra
    assert missing_extra(ModuleNotFoundError(name="hypothesis.stateful")) == "certify"
    assert missing_extra(ModuleNotFoundError(name="lro_spec.none")) is None
