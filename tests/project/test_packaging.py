"""Release files of the proxy: each is accepted by the tool that reads it, and says what the proxy does."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
import yaml

from lro_proxy.options import load
from lro_reference.settings import ENVIRONMENT_PREFIX, Settings
from tests.support.paths import ROOT
from tests.support.registry import Installed
from tests.support.schemastore import problems

PACKAGING = ROOT / "reference_impl" / "packaging"
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SERVER: dict[str, Any] = json.loads((PACKAGING / "server.json").read_text(encoding="utf-8"))
MANIFEST: dict[str, Any] = json.loads((PACKAGING / "mcpb/manifest.json").read_text(encoding="utf-8"))
PLUGIN: dict[str, Any] = json.loads((PACKAGING / "plugin/.claude-plugin/plugin.json").read_text(encoding="utf-8"))
DOCKERFILE = (PACKAGING / "Dockerfile").read_text(encoding="utf-8")


def workflow() -> dict[str, Any]:
    value = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    return {"on" if key is True else key: part for key, part in value.items()}  # YAML 1.1 reads on as true


def tool(name: str) -> str:
    """The path of a program, also beside this interpreter; without it the test is skipped."""
    found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(*words: str | Path) -> str:
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def made(tmp_path: Path) -> Path:
    run(sys.executable, PACKAGING / "make.py", "acme", tmp_path / "made")
    return tmp_path / "made"


def test_all_have_the_version_of_the_package() -> None:
    version = PROJECT["version"]
    bundle = tomllib.loads((PACKAGING / "mcpb/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {SERVER["version"], MANIFEST["version"], PLUGIN["version"], bundle["version"]} == {version}
    pypi, image = SERVER["packages"]
    assert (pypi["identifier"], pypi["version"]) == (PROJECT["name"], version)
    assert image["identifier"].endswith(f":{version}")
    assert bundle["dependencies"] == [f"{PROJECT['name']}=={version}"]
    assert f"{PROJECT['name']}@{version}" in (PACKAGING / "plugin/.mcp.json").read_text()


def test_the_name_in_the_registry_is_that_of_the_readme_and_the_image() -> None:
    assert re.findall(r"mcp-name: (\S+)", (ROOT / "README.md").read_text(encoding="utf-8")) == [SERVER["name"]]
    assert SERVER["name"].replace("OWNER", "${OWNER}") in DOCKERFILE
    assert PROJECT["name"] in PROJECT["scripts"]  # uvx NAME


def arguments(package: dict[str, Any]) -> Iterator[str]:
    for one in package["packageArguments"]:
        if one["type"] == "named":
            yield one["name"]
        yield one.get("value") or one.get("placeholder") or "/tmp/offloaded"


@pytest.mark.parametrize("package", SERVER["packages"], ids=lambda one: one["registryType"])
def test_the_arguments_are_those_of_the_proxy(package: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}}}')
    name, *words = arguments(package)
    assert name == "proxy"
    assert load([word.replace("/home/me/mcp.json", str(tmp_path / "mcp.json")) for word in words], {}).servers
    usual = Settings()
    for variable in package.get("environmentVariables", []):
        field = variable["name"].removeprefix(ENVIRONMENT_PREFIX).lower()
        assert variable.get("default", "") == str(getattr(usual, field))


def test_the_bundle_and_the_plugin_start_the_proxy(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"a": {"command": "x"}}}')
    bundle = MANIFEST["server"]["mcp_config"]["args"]
    plugin = json.loads((PACKAGING / "plugin/.mcp.json").read_text())["mcpServers"]["lro"]["args"]
    for words in (bundle, plugin):
        given = [re.sub(r"\$\{user_config.threshold_tokens\}", "6400", word) for word in words]
        given = [str(tmp_path / "mcp.json") if word.startswith("${") else word for word in given]
        options = load(given[given.index("proxy") + 1 :], {})
        assert (options.has_servers_file, options.families) == (True, ("extract",))


def test_what_is_made_has_an_owner(made: Path) -> None:
    texts = [file.read_text(encoding="utf-8") for file in made.rglob("*") if file.is_file()]
    assert not any("OWNER" in text for text in texts if "Apache License" not in text)
    assert json.loads((made / "server.json").read_text())["name"] == "io.github.acme/lro-proxy"
    with pytest.raises(AssertionError, match="not a valid name of a GitHub account"):
        run(sys.executable, PACKAGING / "make.py", "a/b", made)


def test_skillsaw_accepts_server_and_skill(made: Path) -> None:
    skillsaw = tool("skillsaw")
    assert "All checks passed" in run(skillsaw, "lint", made)
    assert "All checks passed" in run(skillsaw, "lint", made / "plugin")
    (made / "server.json").write_text(json.dumps(SERVER | {"name": "a name"}))
    assert subprocess.run([skillsaw, "lint", str(made)], capture_output=True, timeout=60, check=False).returncode != 0


def test_server_json_has_the_registrys_shape(made: Path) -> None:
    if importlib.util.find_spec("skillsaw") is None:
        pytest.skip("skillsaw, which carries the schemas of the MCP registry, is not installed")
    import skillsaw
    from jsonschema import Draft7Validator

    date = re.search(r"/schemas/(\d+)-(\d+)-(\d+)/", SERVER["$schema"])
    assert date
    folder = Path(skillsaw.__file__).parent / "schemas/mcp_registry" / f"v{'_'.join(date.groups())}"
    check = Draft7Validator(json.loads((folder / "server.schema.json").read_text(encoding="utf-8")))
    value = json.loads((made / "server.json").read_text())
    assert [error.message for error in check.iter_errors(value)] == []
    assert not check.is_valid(value | {"description": "x" * 101})


@pytest.mark.registry
@pytest.mark.timeout(400)
def test_mcpb_packs_the_bundle(made: Path, installed: Installed) -> None:
    mcpb = installed.mcpb()
    run(mcpb, "validate", made / "mcpb/manifest.json")
    run(mcpb, "pack", made / "mcpb", made / "lro-proxy.mcpb")
    run(mcpb, "unpack", made / "lro-proxy.mcpb", made / "unpacked")
    assert json.loads((made / "unpacked/manifest.json").read_text())["name"] == "lro-proxy"


def test_the_image_is_not_root_and_writes_nothing_of_its_own() -> None:
    stages = DOCKERFILE.split("\nFROM ")
    last = stages[-1].splitlines()
    user = next(n for n, line in enumerate(last) if line.startswith("USER "))
    assert last[user] == "USER 10001"
    assert not any(line.startswith(("RUN", "COPY", "ADD", "USER")) for line in last[user + 1 :])
    assert "LRO_GAIN=off" in DOCKERFILE
    assert last[-2:] == ['ENTRYPOINT ["lro"]', 'CMD ["proxy", "--help"]']


def test_the_image_is_run_as_the_owner_of_the_directory() -> None:
    """The image's own user can write to no directory of the machine, so nothing would be offloaded."""
    image = next(p for p in SERVER["packages"] if p["registryType"] == "oci")
    assert [a["name"] for a in image["runtimeArguments"] if a["isRequired"]] == ["--volume", "--user"]
    releasing = (ROOT / "docs/releasing.md").read_text(encoding="utf-8")
    for text in (DOCKERFILE, releasing):
        assert text.index("mkdir -p /tmp/offloaded") < text.index("-v /tmp/offloaded:/tmp/offloaded")
        assert '--user "$(id -u)"' in text
    assert "useradd --uid 10001" in DOCKERFILE  # a system user with such a number is one that useradd warns of


def test_the_image_has_what_its_commands_need() -> None:
    """`--url`, which its comment and the docs show, needs the packages of the extra proxy."""
    assert "--url" in DOCKERFILE
    assert "'.[proxy]'" in DOCKERFILE
    assert "/wheels/*.whl" in DOCKERFILE


def is_sent(path: str) -> bool:
    """Whether a build of the image is given this file: the last pattern of .dockerignore that fits it decides."""
    whole, sent = PurePosixPath(path), True
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.removeprefix("!")
        if not line or line.startswith("#"):
            continue
        if any(
            part.match(pattern.removeprefix("**/")) if pattern.startswith("**/") else fnmatch(str(part), pattern)
            for part in (whole, *whole.parents[:-1])
        ):
            sent = line.startswith("!")
    return sent


def test_the_image_is_built_from_all_that_the_wheel_has() -> None:
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    wheel = hatch["build"]["targets"]["wheel"]
    sources = [*wheel["packages"], *wheel["force-include"], PROJECT["readme"], *PROJECT["license-files"]]
    files = [file for one in map(ROOT.joinpath, sources) for file in (one, *one.rglob("*")) if file.is_file()]
    needed = [str(f.relative_to(ROOT)) for f in files if not {"__pycache__", "node_modules"} & {*f.parts}]
    assert len(needed) > 400
    assert [path for path in ("pyproject.toml", *needed) if not is_sent(path)] == []


@pytest.mark.parametrize(
    "path",
    [
        *(".git/config", ".venv/bin/python", ".env", "lro.yaml", "tests/conftest.py", "docs/install.md"),
        *("lro_spec/__pycache__/a.pyc", "conformance/vectors/runners/typescript/node_modules/a/index.js"),
    ],
)
def test_no_build_of_the_image_is_given_what_only_a_checkout_has(path: str) -> None:
    assert not is_sent(path)


def test_hadolint_accepts_the_image() -> None:
    run(tool("hadolint"), PACKAGING / "Dockerfile")


class TestRelease:
    def test_actionlint_accepts_it(self) -> None:
        assert run(tool("actionlint"), WORKFLOW) == ""

    def test_its_shape(self) -> None:
        assert problems("github-workflows", workflow()) == []

    def test_each_job_has_only_the_permissions_that_it_needs(self) -> None:
        assert workflow()["permissions"] == {}
        writing = {
            name: {k for k, v in job["permissions"].items() if v == "write"} for name, job in workflow()["jobs"].items()
        }
        assert writing == {
            "build": {"id-token", "attestations"},
            "pypi": {"id-token"},
            "image": {"packages", "id-token", "attestations"},
            "registry": {"id-token"},
            "release": {"contents"},
        }
        assert workflow()["jobs"]["pypi"]["environment"] == "pypi"

    def test_no_script_contains_an_expression(self) -> None:
        """A tag's or an account's name must not become a part of a script."""
        scripts = [step["run"] for job in workflow()["jobs"].values() for step in job["steps"] if "run" in step]
        assert scripts
        assert not any("${{" in script for script in scripts)
