"""Records the current behaviour for comparison with later versions: ``python -m tests.tools.freeze PART …``.

- ``certify FOLDER [NAME…]`` records evidence: of the plain server, the reference server, and every faulty, sound and
  edition server, or of those named, as ``FOLDER/NAME.tar.gz``. What is there is kept, so that it can be continued.
- ``verdicts FOLDER`` writes tests/data/frozen/verdicts.json from the reports in that folder.
- ``evidence FOLDER NAME…`` packs evidence of that folder into tests/data/frozen/evidence.
- ``validation`` writes what `lro validate --format json` finds in the golden documents, without its words.
- ``proxy`` writes transcripts of clients and the proxy.

Nothing here knows how the suite works inside: the command line, reports and evidence are all that is looked at.
"""

from __future__ import annotations

import argparse
import lzma
import tarfile
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path

from lro_conformance import profile as profiles
from lro_conformance.engine.capture import DEFAULT_SEQUENCES
from lro_conformance.engine.run import certify
from lro_conformance.profile import profile_for_command
from tests.servers.editions.catalogue import variants
from tests.servers.faults.catalogue import faults
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text
from tests.support import frozen
from tests.support.certifying import explored_servers


def main() -> None:
    """Write the requested part."""
    parser = argparse.ArgumentParser(description="Record today's behaviour.")
    parts = parser.add_subparsers(dest="part", required=True)
    for part in ("certify", "verdicts", "evidence"):
        one = parts.add_parser(part)
        one.add_argument("folder", type=Path)
        if part != "verdicts":
            one.add_argument("names", nargs="*" if part == "certify" else "+")
    for part in ("validation", "proxy"):
        parts.add_parser(part)
    given = parser.parse_args()
    if given.part == "certify":
        record_all(given.folder, given.names)
    elif given.part == "verdicts":
        frozen.VERDICTS.write_text(frozen.verdicts_text(frozen.reports(given.folder)), encoding="utf-8")
    elif given.part == "evidence":
        for name in given.names:
            pack(given.folder, name)
    elif given.part == "validation":
        from tests.support.frozen_validation import write

        write()
    else:
        from tests.support.frozen_proxy import write

        write()


def record_all(folder: Path, names: Sequence[str]) -> None:
    """Record evidence of these servers, or of all, one per core at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = names or [*frozen.BASE, *faults(), *sounds(), *variants()]
    missing = [name for name in wanted if not (folder / f"{name}.tar.gz").exists()]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for name in pool.map(partial(record, folder), missing):
            print(name, flush=True)


def record(folder: Path, name: str) -> str:
    """Certify one server, and keep the evidence."""
    with tempfile.TemporaryDirectory() as scratch:
        if name == "reference":
            profile = profile_for_command(("lro", "serve"))
        else:
            variant = {**faults(), **sounds(), **variants()}.get(name)
            path = Path(scratch) / "lro.yaml"
            path.write_text(profile_text(name if variant else "", variant.profile if variant else ""), encoding="utf-8")
            profile = profiles.load(path)
        kept = Path(scratch) / "evidence"
        certify(profile, seed=1, jobs=1, examples=DEFAULT_SEQUENCES if name in explored_servers() else 0, evidence=kept)
        part = folder / f"{name}.part"
        with tarfile.open(part, "w:gz", compresslevel=1) as archive:
            archive.add(kept, arcname=name)
        part.rename(folder / f"{name}.tar.gz")
    return name


def pack(folder: Path, name: str) -> None:
    """Compress evidence as much as possible, without owners and times."""
    packed = BytesIO()
    with (
        tarfile.open(folder / f"{name}.tar.gz") as source,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as target,
    ):
        for member in sorted(source.getmembers(), key=lambda m: m.name):
            member.uid = member.gid = member.mtime = 0
            member.uname = member.gname = ""
            target.addfile(member, source.extractfile(member) if member.isfile() else None)
    frozen.EVIDENCE.mkdir(parents=True, exist_ok=True)
    data = lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    (frozen.EVIDENCE / f"{name}.tar.xz").write_bytes(data)


if __name__ == "__main__":
    main()
