"""The recipe libraries of the editions (section "Standard jq Recipe Library"): making, understanding, running, judging.

`render` makes the recipes for a file. `parse_command` understands a command, `run` runs it without a shell, `evaluate`
works out what a standard recipe means, `agrees` compares the two, `probe` lets a recipe look for something else.

A server that only makes recipes imports `lro_spec.rendering`, and none of the judging with it.
"""

from lro_spec.agreement import Agreement, agrees, probe
from lro_spec.evaluation import erratum, evaluate
from lro_spec.jqrun import EngineError, JqRun, JqRunner, run, run_many
from lro_spec.jqtext import literals, with_literal
from lro_spec.outcomes import Expected
from lro_spec.pipeline import JqCall, Pipeline, parse_command
from lro_spec.rendering import quote, render
from lro_spec.shellwords import RecipeSyntaxError

__all__ = [
    "Agreement", "EngineError", "Expected", "JqCall", "JqRun", "JqRunner", "Pipeline", "RecipeSyntaxError", "agrees",
    "erratum", "evaluate", "literals", "parse_command", "probe", "quote", "render", "run", "run_many", "with_literal",
]  # fmt: skip
