"""Hypothesis with the settings of a run: it writes no files into the user's directory, and a seed gives the same
examples everywhere.

This module is imported only where an exploration begins, because Hypothesis makes up a third of all code that a run
imports.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import hypothesis.core
import hypothesis.internal.conjecture.providers as providers
import hypothesis.internal.entropy as entropy
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded_with
from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
from hypothesis.errors import Unsatisfiable
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test
from hypothesis.strategies import SearchStrategy

Value = TypeVar("Value")


_IRRELEVANT_CHECKS = (
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
    HealthCheck.nested_given,
)


def run_examples(
    strategy: SearchStrategy[Value], attempt: Callable[[Value], None], *, seed: int, examples: int
) -> None:
    """Call *attempt* with up to *examples* examples. Once a call has raised an exception, *attempt* is called with
    smaller examples that may raise it, too. The exception of the smallest example is raised in the end.

    Raises `hypothesis.errors.FlakyFailure` if the exception does not recur. If the strategy has no example at all,
    nothing is called or raised.
    """
    explored = _settings(examples)(seeded_with(seed)(given(strategy)(attempt)))
    with suppress(Unsatisfiable):
        explored()


def run_sequences(machine: Callable[[], RuleBasedStateMachine], *, seed: int, sequences: int, steps: int) -> None:
    """Run a state machine for up to *sequences* sequences of at most *steps* steps each.

    An exception is treated as in `run_examples`, with shorter sequences in place of smaller examples.
    """
    factory: Any = machine
    run_state_machine_as_test(seeded_with(seed)(factory), settings=_settings(sequences, stateful_step_count=steps))


def _settings(examples: int, **more: Any) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=_IRRELEVANT_CHECKS,
        **more,
    )


@contextmanager
def isolated(folder: Path) -> Generator[None]:
    """Inside this context, Hypothesis keeps its files in *folder*, and takes no constants from loaded modules.

    By default, it searches the source of every module outside of site-packages for numbers and strings to try. That
    takes as long as ten starts of a server, and a seed would find other examples in a checkout than in an installation.
    There is no public switch for this search. If the internals of a later Hypothesis differ, the search is left on. If
    explorers run in several threads, all of them use the folder of the first one, and the last one to end restores the
    previous settings.
    """
    with _lock:
        _folders_in_use.append(folder)
        if len(_folders_in_use) == 1:
            _begin(folder)
    _register_random()
    try:
        yield
    finally:
        with _lock:
            _folders_in_use.pop()
            if not _folders_in_use:
                _end()


_lock = threading.Lock()
_folders_in_use: list[Path] = []
_saved_settings: dict[str, Any] = {}


def _begin(folder: Path) -> None:
    _saved_settings["home"] = storage_directory(intent_to_write=False).home_directory
    set_hypothesis_home_dir(folder)
    internals: Any = providers
    with suppress(AttributeError, TypeError):
        no_constants, cache = internals.Constants(), internals.LRUCache(1024)
        changed: dict[str, object] = {"_get_local_constants": lambda: no_constants, "CONSTANTS_CACHE": cache}
        _saved_settings["internals"] = {name: getattr(internals, name) for name in changed}
        _set(internals, changed)


def _register_random() -> None:
    """Create and register the random generator that Hypothesis uses in this thread. Hypothesis itself would run a full
    garbage collection before it registers one, which takes as long as several starts of a server."""
    core: Any = hypothesis.core
    managed: Any = entropy
    with suppress(AttributeError, TypeError):
        if core.threadlocal._hypothesis_global_random is None:
            core.threadlocal._hypothesis_global_random = generator = random.Random()
            managed.RANDOMS_TO_MANAGE[next(managed._RKEY)] = generator


def _end() -> None:
    _set(providers, _saved_settings.pop("internals", {}))
    set_hypothesis_home_dir(_saved_settings.pop("home"))


def _set(module: object, values: Mapping[str, object]) -> None:
    for name, value in values.items():
        setattr(module, name, value)
