"""Commands that differ only in the path of their file: each is read as if it were the only one."""

import pytest

from lro_spec.recipes.pipeline import parse_command
from lro_spec.recipes.shell import RecipeSyntaxError


@pytest.mark.parametrize("path", ["/tmp/a.jsonl", "/tmp/b-1/c.jsonl", "/a.jsonl"])
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_each_command_keeps_its_own_path(path: str, quote: str) -> None:
    found = parse_command(f"tail -n +2 {quote}{path}{quote} | jq -c 'select(.title)'")
    assert (found.path, found.skip, found.jq.program) == (path, 1, "select(.title)")
    assert found.stages == (("tail", "-n", "+2", path), ("jq", "-c", "select(.title)"))


def test_a_path_that_the_program_has_too_stays_there() -> None:
    found = parse_command("""F=/tmp/a.jsonl; tail -n +2 "$F" | jq --arg of "$F" '{$of}'""")
    assert (found.path, dict(found.jq.args)) == ("/tmp/a.jsonl", {"of": "/tmp/a.jsonl"})


def test_a_path_in_the_program_alone_is_no_file() -> None:
    with pytest.raises(RecipeSyntaxError, match="names no file"):
        parse_command("tail -n +2 | jq --arg of /tmp/a.jsonl '{$of}'")


def test_an_error_quotes_the_path_of_its_own_command() -> None:
    with pytest.raises(RecipeSyntaxError, match=r"'/tmp/second\.jsonl'"):
        parse_command("cat /dev/null | tail -n +2 /tmp/second.jsonl | jq .")
