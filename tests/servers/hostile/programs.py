"""Attacks by jq programs, and by commands that resemble them."""

from __future__ import annotations

import os

from tests.servers.hostile.catalogue import hostile
from tests.servers.plain import RECIPES, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Programs(Server):
    """Every recipe is this program."""

    program = "."

    def programs(self) -> Sequence[tuple[str, str]]:
        return [(about, self.program) for about, _ in RECIPES]


@hostile("recipes that never end")
class endless_recipes(Programs):
    program = "jq -s 'def f: f; f'"


@hostile("recipes that never end and say something all the time")
class talkative_recipes(Programs):
    program = "jq -n 'repeat(\"x\" * 10000)'"


@hostile("recipes that fill the memory")
class greedy_recipes(Programs):
    program = "jq -s '[range(1e12)] | length'"


@hostile("recipes that count to a million million")
class counting_recipes(Programs):
    program = "jq -s '[limit(3; range(1e12) | select(. == 1e11))]'"


@hostile("regular expressions in recipes that backtrack for ever")
class backtracking_recipes(Programs):
    program = 'jq \'select(("a" * 40) | test("^((a+)+)+$|(a*)*(a*)*(a*)*b"; "i"))\''


@hostile("recipes that read the environment, their input's name and other modules")
class curious_recipes(Server):
    def programs(self) -> Sequence[tuple[str, str]]:
        curious = (
            "jq 'env'",
            "jq '$ENV'",
            "jq 'input_filename'",
            "jq 'import \"/etc/passwd\" as $p; $p'",
            "jq 'include \"x\"; .'",
            "jq -n '[inputs, env.HOME, $__loc__]'",
            "jq 'input_line_number, get_search_list'",
            "jq --rawfile p /etc/passwd '$p'",
            "jq --slurpfile p /etc/passwd '$p'",
            "jq -f /etc/passwd",
        )
        return [(about, program) for (about, _), program in zip(RECIPES, curious, strict=True)]


@hostile("commands that would write files if a shell ran them")
class writing_recipes(Server):
    def recipe(self, path: str, program: str) -> str:
        owned = os.environ.get("LRO_TEST_OWNED", "owned")
        ways = (
            f"tail -n +2 {path} | {program} > {owned}",
            f"tail -n +2 {path} | tee {owned} | {program}",
            f"tail -n +2 {path} | {program}; touch {owned}",
            f"tail -n +2 $(touch {owned}; echo {path}) | {program}",
            f"tail -n +2 `touch {owned}`{path} | {program}",
            f"touch {owned} && tail -n +2 {path} | {program}",
            f"tail -n +2 {path} | {program} | xargs touch {owned}",
            f"tail -n +2 <(touch {owned}) {path} | {program}",
            f"tail -n +2 {path} |\n{program}\ntouch {owned}",
            f"tail -n +2 /etc/passwd | {program}",
        )
        return ways[len(program) % len(ways)]


@hostile("commands of a megabyte, of ten thousand quotes, of NUL")
class monstrous_recipes(Server):
    def recipe(self, path: str, program: str) -> str:
        ways = (
            f"tail -n +2 {path} | jq '{'.|' * 300_000}.'",
            f"tail -n +2 {path} | jq {'(' * 20_000}.{')' * 20_000}",
            "'" * 10_001,
            f"tail -n +2 {path}\0 | jq .",
            f"tail -n +2 {path} | jq '" + '"\\(' * 5000 + "1" + ')"' * 5000 + "'",
            f"tail -n +{'9' * 5000} {path} | {program}",
            f"head -n {'9' * 4000} {path} | tail -n +2 | {program}",
            f"tail -n +2 {path} | " + " | ".join(["jq ."] * 2000),
        )
        return ways[len(program) % len(ways)]
