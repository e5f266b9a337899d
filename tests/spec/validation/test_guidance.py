"""Guidance read sentence by sentence: orders, figures, and texts that instruct nobody."""

from __future__ import annotations

import pytest

from lro_spec.validation.guidance import Sentence, first_order, lacks_instructions, sentences, wrong_number
from tests.support.ending import ends

TEMPLATE = """\
Results offloaded to JSONL (200 memories, ~50000 tokens saved).
File: /tmp/atlatl-recall-01KJPY44E0A1B2C3D4E5F6G7H8.jsonl
Detail level: light
Use the jq recipes above to extract specific data. Common patterns:
- Browse: recipe #1 (titles with scores)
- Filter: recipe #2 (by namespace) or #3 (by keyword)
- Analyze: recipe #8 (count by namespace)
Read the file directly only if you need the complete dataset.
The header line (line 1) contains metadata; memory objects start at line 2."""
"""The specification's own."""


class TestSentences:
    def test_end_at_full_stops_and_lines(self) -> None:
        text = "Use jq 1.5 on /tmp/a.jsonl. See (recipe #1.) Then\nFile: x"
        assert [s.text for s in sentences(text)] == [
            "Use jq 1.5 on /tmp/a.jsonl.",
            "See (recipe #1.",
            "Then",
            "File: x",
        ]

    def test_go_on_in_the_next_line_in_lower_case_or_after_a_comma(self) -> None:
        assert [s.text for s in sentences("If you can,\nRun it\nand see.\nthe end")] == [
            "If you can, Run it and see.",
            "the end",
        ]

    def test_of_a_list_have_its_heading(self) -> None:
        text = "First. If you can:\n- run it\n2. see it\nDone:\n\n- nothing"
        assert list(sentences(text))[2:] == [
            Sentence("run it", "If you can:"),
            Sentence("see it", "If you can:"),
            Sentence("Done:"),
            Sentence("nothing"),
        ]


ADVICE = """\
Note: for recipe #3 you must use jq 1.5 or newer.
You must use jq 1.7+.
For recipe #3, the jq command must be run with jq 1.5 or later.
To see titles you need to use recipe #1.
If you have a shell, run recipe #1 first; you must have a shell to run recipes.
Where a shell is at hand you have to run jq; always run #1.
Run recipe #1 first if you have a shell.
With shell access, run recipe #1 first.
Run recipe #1 in a shell to list titles.
Without shell access, the summary alone may be sufficient.
No shell is needed.
A shell is not required.
A shell is required to run the recipes.
The recipes need a shell.
The recipes must be run in a POSIX shell.
The pattern must be replaced.
You do not need to run anything.
You have to have a shell.
You can open a terminal and run them.
You need to quote the path in your shell.
Start with recipe #1, then narrow by namespace."""

ORDERS = """\
Open bash.
1. Open a shell
Run recipe #1 with your shell tool.
The shell is required: look into the file.
jq must be run on this file.
Recipe #1 must be executed in your shell.
You MUST run the recipes in your shell before you answer.
You will need to run jq.
The assistant has to open the file.
You must run recipe #1 before you answer, even if it is slow.
Start by running recipe #1 in bash, then answer.
Important: before answering, read the file with your shell.
Open your terminal and execute recipe #1 now.
Never answer without running recipe #1.
Execute recipe #1 immediately.
Make sure to run recipe #1.
It is mandatory to run recipe #1.
Running recipe #1 is mandatory.
The file is large; run jq with the shell.
If you like. You must run jq."""


class TestOrders:
    @pytest.mark.parametrize("text", ["", *ADVICE.splitlines()])
    def test_are_not_advice_facts_and_conditions(self, text: str) -> None:
        assert first_order(f"{TEMPLATE}\n{text}") is None

    @pytest.mark.parametrize("text", ORDERS.splitlines())
    def test_are_found_in_any_words(self, text: str) -> None:
        assert first_order(f"{TEMPLATE}\n{text}") is not None

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("If a shell is there:\n- run recipe #1 in bash now\n- run recipe #8 first", None),
            (
                "If a shell is there:\n- run recipe #8 first\n\n- run recipe #1 in bash now",
                "run recipe #1 in bash now",
            ),
            ("If you have a shell,\nrun recipe #1 in bash.", None),
            ("if so, always run it. Always execute it", "Always execute it"),
            ("If" + " you" * 800 + " must run jq", None),
            ("You must run jq; if it fails, read the summary.", "You must run jq; if it fails, read the summary."),
        ],
    )
    def test_bind_only_without_a_condition(self, text: str, found: str | None) -> None:
        assert first_order(text) == found

    @pytest.mark.parametrize(
        "text",
        ["if " * 100_000 + "run it now", "run jq " * 9000, "you must " * 9000, "be run " * 9000, "start " * 9000],
    )
    def test_take_no_time(self, text: str) -> None:
        with ends():
            first_order(text)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (TEMPLATE, False),
        (TEMPLATE.replace("200 memories", "300 memories"), True),
        (TEMPLATE.replace("50000", "5000"), True),
        ("300 memories are in the file.", True),
        ("There are 300 memories.", True),
        ("300 memories: /tmp/a.jsonl", True),
        ("300 memories", True),
        ("Line 1 records the metadata.", False),
        ("Line 1 records what was found.", False),
        ("Recipe #9 gives the 10 memories with the highest confidence.", False),
        ("Read 20 records at a time.", False),
        ("Recipe #1 has 3000 tokens.", False),
        ("Read 20 records at a time. The file holds 300 memories.", True),
        ("It was larger than the threshold of 6400 tokens.", False),
        ("20 of 200 memories were found.", False),
    ],
)
def test_figures_are_read_in_sentences_about_the_result(text: str, wrong: bool) -> None:
    assert (wrong_number(text, [200], [50_000]) is not None) is wrong


@pytest.mark.parametrize(
    ("text", "instructs"),
    [
        (TEMPLATE, True),
        ("Use the recipes.", True),
        ("See /out/a.b please", True),
        ("可以用上面的配方提取所需的数据。", True),
        ("Die größeren Ergebnisse stehen woanders", True),
        ("ok", False),
        ("See file", True),
        ("In /out/a.b", True),
        ("好的", False),
        ("Sorry, this was more than we could send you at once.", False),
    ],
)
def test_a_block_of_instructions_leads_somewhere(text: str, instructs: bool) -> None:
    assert lacks_instructions(text, "/out/a.b") is not instructs
