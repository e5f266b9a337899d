"""Servers on the official TypeScript SDK: judged as those of the other languages are."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest

from lro_conformance import profile as profiles
from lro_conformance.engine.capture import DEFAULT_SEQUENCES
from lro_conformance.engine.run import certify
from lro_conformance.judging.results import Report
from lro_conformance.judging.verdicts import Verdict
from tests.servers.faults.catalogue import faults
from tests.servers.variants import PROFILE
from tests.support.paths import SERVERS
from tests.support.registry import Installed

pytestmark = [pytest.mark.registry, pytest.mark.timeout(400)]

SOURCE = SERVERS / "typescript" / "server.mjs"
FAULTS = (
    "offloads_at_equal_threshold",
    "estimates_at_full_detail",
    "summary_count_includes_the_header",
    "recipe_4_sorts_upwards",
    "write_failure_is_a_tool_error",
)


@pytest.fixture(scope="module")
def judged(installed: Installed, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Report]:
    """Certifies the server, with a fault or without."""
    folder = tmp_path_factory.mktemp("typescript")
    (folder / "node_modules").symlink_to(installed.node_modules())  # node looks for packages beside the program
    server = shutil.copy(SOURCE, folder)

    def judge(*fault: str, examples: int) -> Report:
        path = folder / "lro.yaml"
        path.write_text(PROFILE.format(command=json.dumps(["node", str(server), *fault])), encoding="utf-8")
        return certify(profiles.load(path), seed=1, examples=examples)

    return judge


@pytest.mark.parametrize("examples", [0, pytest.param(DEFAULT_SEQUENCES, marks=pytest.mark.long)])
def test_a_conformant_server_proves_every_level(judged: Callable[..., Report], examples: int) -> None:
    report = judged(examples=examples)
    assert report.failure is None
    assert {r.verdict for r in report.requirements} == {Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.NOT_JUDGED}
    assert report.achieved == 3


@pytest.mark.long
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_blamed_as_in_the_other_server(name: str, judged: Callable[..., Report]) -> None:
    fault = faults()[name]
    report = judged(name, examples=0)
    blamed = {r.requirement.id for r in report.requirements if r.verdict >= Verdict.WARN}
    assert fault.requirement in blamed <= {fault.requirement, *fault.also}
    assert report.achieved == fault.proves
