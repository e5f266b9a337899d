"""Evidence of faults and of sound servers, recorded once, so that a mutated check can be tried without any server.

Of a fault only the trials are made that its requirement needs, as in test_faults.py; of a sound server all. Those are
explored that test_faults.py and test_sound.py explore.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from types import FunctionType
from typing import Any

from lro_conformance import evidence
from lro_conformance import profile as profiles
from lro_conformance.engine.capture import DEFAULT_SEQUENCES
from lro_conformance.engine.run import certify
from lro_conformance.evidence.reader import read
from tests.servers.faults.catalogue import faults
from tests.servers.sound.catalogue import sounds
from tests.servers.variants import profile_text
from tests.support.certifying import explored_servers

SEED = 1


@dataclass(frozen=True, slots=True)
class Recording:
    """The recorded observations of one server."""

    server: str
    requirement: str | None
    """The requirement that a fault breaks; None for a sound server."""
    edition: str
    evidence: Mapping[str, Any]
    """The evidence of each trial, by name."""


def record(name: str, folder: Path, only: str | None = None) -> str:
    """Keep the evidence of one server in *folder*/NAME, which is there only once it is whole.

    *only* is the requirement whose trials are made, for a sound server; by default all are.
    """
    fault = faults().get(name)
    variant = fault or sounds()[name]
    if fault is not None and not fault.everywhere:
        only = fault.requirement
    with tempfile.TemporaryDirectory(dir=folder, prefix=".") as work:
        path = Path(work) / "lro.yaml"
        path.write_text(profile_text(name, variant.profile), encoding="utf-8")
        made = Path(work) / name
        certify(
            profiles.load(path),
            seed=SEED,
            jobs=1,
            only=None if only is None else {only},
            examples=DEFAULT_SEQUENCES if name in explored_servers() else 0,
            evidence=made,
        )
        made.rename(folder / name)
    return name


def record_all(
    names: Iterable[str], folder: Path, until: float, tell: Callable[[str], None], workers: int | None = None
) -> list[str]:
    """Record the missing servers concurrently; start none after *until* (monotonic).

    Returns those that are still missing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [name for name in names if not (folder / name).is_dir()]
    workers = workers or os.cpu_count() or 1
    under_way: dict[Future[str], str] = {}
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        while under_way or (waiting and time.monotonic() < until):
            while waiting and len(under_way) < workers and time.monotonic() < until:
                name = waiting.pop(0)
                under_way[pool.submit(record, name, folder)] = name
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                tell(f"recorded {future.result()}, {len(waiting)} to go")
                del under_way[future]
    return waiting


def load(names: Sequence[str], folder: Path) -> list[Recording]:
    """The existing recordings of these servers."""
    return [_loaded(name, folder) for name in names if (folder / name).is_dir()]


@cache
def _loaded(name: str, folder: Path) -> Recording:
    """One recording; a copy in a form that is read ten times as fast is stored next to it."""
    quick = folder / f"{name}.{_version()}.pickle"
    if quick.exists():
        return pickle.loads(quick.read_bytes())
    stored = read(folder / name)
    fault = faults().get(name)
    made = Recording(name, None if fault is None else fault.requirement, stored.profile.edition, stored.trials)
    buffer = BytesIO()
    _Pickler(buffer).dump(made)
    written = quick.with_suffix(f".{os.getpid()}")
    written.write_bytes(buffer.getvalue())
    written.rename(quick)
    return made


class _Pickler(pickle.Pickler):
    """Leaves out the function that looks up what was said to a server: only scripts need it, and none is made here."""

    def reducer_override(self, value: object) -> Any:
        return (
            (_said_nothing, ()) if isinstance(value, FunctionType) and value.__name__ == "<lambda>" else NotImplemented
        )


def _said_nothing() -> type:
    return list


@cache
def _version() -> str:
    """Changes with the modules that define what is kept."""
    package = Path(evidence.__file__).parents[1]
    modules = [*package.glob("*.py"), *package.glob("trials/*.py"), *package.glob("wire/*.py")]
    return sha256(b"".join(path.read_bytes() for path in sorted(modules))).hexdigest()[:8]
