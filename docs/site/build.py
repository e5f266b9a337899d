"""Build the documents as a site: ``python docs/site/build.py [--output DIR]``.

The sources are collected in a temporary folder: the pages of docs/, README and the other top-level documents, and the
reference, which is made from the catalogue, the schemas, the command line and docstrings (`reference.py`). Then
zensical builds them strictly, so that a link into nothing ends the build, and every page is searched for what a browser
would fetch from elsewhere.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from posixpath import normpath, relpath

SITE = Path(__file__).resolve().parent
ROOT = SITE.parent.parent
for folder in (ROOT / "reference_impl", ROOT / "conformance", ROOT, SITE):
    sys.path.insert(0, str(folder))

from reference import pages  # noqa: E402

TOP = {
    "README.md": "overview.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "LICENSE": "license.txt",
    "conformance/vectors/README.md": "reference/vectors/format.md",
    "conformance/vectors/CHANGELOG.md": "reference/vectors/changelog.md",
}
"""Documents outside of docs/, with their names on the site."""

_CODE = re.compile(r"(^```.*?^```[^\S\n]*$|`[^`\n]+`|\[[^\]]*\]\([^)]*\)|^#+ .*$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_ID = re.compile(r"\bLRO-[A-Z]+-\d{2}\b")


def staged(path: str) -> str | None:
    """Path of a file of the checkout among the sources of the site; None if the site does not have it."""
    if path in TOP:
        return TOP[path]
    if path == "docs/README.md":
        return "index.md"
    if chapter := re.fullmatch(r"conformance/vectors/(\w+)\.json", path):
        return f"reference/vectors/{chapter[1]}.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if found := re.fullmatch(r"schemas/(\w+)\.schema\.json", path):
        return f"reference/schemas/{found[1]}.md"
    if not (ROOT / path).exists():
        raise ValueError(f"there is no {path}")
    return None


def moved(text: str, source: str, known: set[str]) -> str:
    """A document's text with links for the site; requirement ids become links to their pages."""
    here = staged(source) or source

    def relink(found: re.Match[str]) -> str:
        path, hash, anchor = found[2].partition("#")
        if not path or re.match(r"[a-z]+:", path):
            return found[0]
        target = staged(normpath(f"{source.rpartition('/')[0]}/{path}").lstrip("/"))
        return found[1] if target is None else f"[{found[1]}]({relative(target, here)}{hash}{anchor})"

    def link(found: re.Match[str]) -> str:
        id = found[0]
        return f"[{id}]({relative(requirement_page(id), here)})" if id in known else id

    parts = _CODE.split(text)
    parts[::2] = [_ID.sub(link, part) for part in parts[::2]]
    parts[1::2] = [part if part.startswith("`") else _LINK.sub(relink, part) for part in parts[1::2]]
    return "".join(parts)


def relative(target: str, here: str) -> str:
    """The address of one source as another refers to it."""
    return relpath(target, here.rpartition("/")[0] or ".")


def requirement_page(id: str) -> str:
    """The source of a requirement's page."""
    return f"reference/requirements/{id}.md"


def stage(folder: Path) -> None:
    """Put all sources of the site into *folder*."""
    made = dict(pages())
    known = {id for name in made for id in _ID.findall(name)}
    for path in (*(ROOT / name for name in TOP), *sorted((ROOT / "docs").rglob("*"))):
        source = path.relative_to(ROOT).as_posix()
        if path.is_dir() or "__pycache__" in source or source.endswith((".py", ".yml")):
            continue
        target = folder / (staged(source) or source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.endswith(".md"):
            target.write_text(moved(path.read_text(encoding="utf-8"), source, known), encoding="utf-8")
        else:
            shutil.copy(path, target)
    for name, text in made.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


class _Fetched(HTMLParser):
    """Collects the addresses that a browser fetches to show a page, without links that a reader follows."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag != "a" and not (tag == "link" and given.get("rel") in ("canonical", "prev", "next")):
            self.addresses += [
                value for name in ("src", "href", "data", "srcset", "poster") if (value := given.get(name))
            ]


def from_elsewhere(site: Path) -> Iterator[str]:
    """Addresses on other machines that the pages and style sheets of a built site would fetch."""
    for path in sorted(site.rglob("*")):
        if path.suffix == ".html":
            parser = _Fetched()
            parser.feed(path.read_text(encoding="utf-8"))
            addresses = parser.addresses
        elif path.suffix == ".css":
            text = path.read_text(encoding="utf-8")
            addresses = re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')\s]+)", text)
        else:
            continue
        yield from (f"{path.relative_to(site)}: {a}" for a in addresses if re.match(r"(?:https?:)?//", a))


def build(output: Path) -> list[str]:
    """Build the site into *output*. Returns its problems, one line each."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        stage(work / "docs")
        shutil.copy(SITE / "mkdocs.yml", work / "mkdocs.yml")
        zensical = Path(sys.executable).with_name("zensical")
        done = subprocess.run(
            [str(zensical), "build", "--strict", "--clean"],
            cwd=work,
            capture_output=True,
            text=True,
            check=False,
            env={"PATH": "/usr/bin:/bin", "NO_COLOR": "1", "PYTHONPATH": ""},
        )
        if done.returncode:
            return [re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)]
        problems = [f"fetched from another machine: {found}" for found in from_elsewhere(work / "site")]
        if not problems:
            if output.exists():
                shutil.rmtree(output)
            shutil.copytree(work / "site", output)
        return problems


def main() -> int:
    """Build the site, and report the outcome."""
    arguments = argparse.ArgumentParser(description="Build the documents as a site.")
    arguments.add_argument("--output", type=Path, default=ROOT / "site", metavar="DIR", help="default: site")
    arguments.add_argument("--sources", type=Path, metavar="DIR", help="only put the sources together, in DIR")
    given = arguments.parse_args()
    if given.sources is not None:
        stage(given.sources)
        return 0
    problems = build(given.output)
    print("\n".join(problems) if problems else f"{given.output}: {len(list(given.output.rglob('*.html')))} pages")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
