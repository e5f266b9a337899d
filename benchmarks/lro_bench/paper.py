"""The paper's figures, recomputed: each published number beside the number that follows from its formulae and tables.

Numbers of the paper are always marked: *published* comes from ``data/published.yaml``, and *ours* is computed here. A
comparison has one of four verdicts, or is a measurement of our implementation or corpus (*measured here*). E1 to E4 are
the experiments of the paper. In the formulae, n is the number of records, k the number of records that an agent needs,
t the tokens of a record, and d the tokens of a descriptor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

import yaml

from lro_bench.conditions import DATA, conditions
from lro_bench.corpus import PAPER_SIZES, corpus
from lro_bench.statistics import fisher, wilson
from lro_bench.tasks import feasible_filters, tasks

Verdict = Literal["equal", "within rounding", "contradicts", "not reproducible without a model", "measured here"]
Figures = Mapping[str, Any]

MODELS = ("Haiku", "GPT")
_COLUMNS = [(n, model) for n in PAPER_SIZES for model in MODELS]
_NEEDS_MODEL: Verdict = "not reproducible without a model"
_PAGE_SIZES = {"Inline": 5, "Inline+Code": 5, "Summary": 10}


@dataclass(frozen=True, slots=True)
class Comparison:
    """A published figure and ours."""

    id: str
    what: str
    published: str
    ours: str
    verdict: Verdict
    why: str = ""
    """Computation of our figure, or the reason why there is none."""


@cache
def published() -> Figures:
    """The figures of the paper."""
    return cast("Figures", yaml.safe_load((DATA / "published.yaml").read_text(encoding="utf-8")))


def compare(figures: Figures) -> list[Comparison]:
    """All comparisons, in the order of the paper."""
    return [
        *_design(figures),
        *_ground_truth(figures),
        *_theory(figures),
        *_table1(figures),
        *_literature(figures),
        *_accuracies(figures, "table3", "E1 count accuracy"),
        *_table4(figures),
        *_table5(figures),
        *_accuracies(figures, "table6", "E2 count accuracy"),
        *_table7(figures),
        *_accuracies(figures, "table8", "E3 count accuracy"),
        *_scores(figures),
        *_table11(figures),
        *_cross_model(figures),
        *_claims(figures),
        *_confounds(figures),
        *_material(figures),
    ]


def unexpected(comparisons: Sequence[Comparison], figures: Figures) -> list[str]:
    """A line for each contradiction that is not listed in *figures*, and for each listed one that was not found."""
    listed = set(cast("list[str]", figures["contradictions"]))
    contradicting = {comparison.id for comparison in comparisons if comparison.verdict == "contradicts"}
    return [
        *(f"{id} contradicts, but is not listed as a contradiction" for id in sorted(contradicting - listed)),
        *(f"{id} is listed as a contradiction, but does not contradict" for id in sorted(listed - contradicting)),
    ]


def _rounded(
    id: str, what: str, paper_value: float, computed: float, digits: int, unit: str = "", why: str = ""
) -> Comparison:
    """A comparison of two numbers, of which the published number is rounded to *digits* decimals."""
    step = 10.0**-digits
    ours = f"{computed:.{digits}f}{unit}"
    if f"{paper_value:.{digits}f}{unit}" != ours:
        ours = f"{computed:.{digits + 1}f}{unit}"  # one more digit shows whether rounding is the reason
    deviation = abs(paper_value - computed)
    verdict: Verdict = (
        "equal" if deviation <= step / 2 + 1e-9 else "within rounding" if deviation <= step + 1e-9 else "contradicts"
    )
    return Comparison(id, what, f"{paper_value:.{digits}f}{unit}", ours, verdict, why)


def _exact(id: str, what: str, paper_value: object, computed: object, why: str = "") -> Comparison:
    return Comparison(
        id, what, str(paper_value), str(computed), "equal" if paper_value == computed else "contradicts", why
    )


def _claim(id: str, what: str, paper_value: str, computed: str, is_true: bool, why: str = "") -> Comparison:
    return Comparison(id, what, paper_value, computed, "equal" if is_true else "contradicts", why)


# --- what follows from formulae


def _design(figures: Figures) -> Iterator[Comparison]:
    source = figures["source"]
    ours = [condition for condition in conditions().values() if condition.source == "paper"]
    yield _exact("design/conditions", "conditions", source["conditions"], len(ours), "counted in conditions.yaml")
    runs = len(ours) * len(source["sizes"]) * len(source["models"])
    yield _exact("design/runs", "runs", source["runs"], runs, "conditions × sizes × models")


def savings(n: int, k: float, record_tokens: float, descriptor_tokens: float) -> float:
    """Share of the inline cost that is saved: 1 − (d + k·t) ÷ (n·t)."""
    return 1 - (descriptor_tokens + k * record_tokens) / (n * record_tokens)


def _theory(figures: Figures) -> Iterator[Comparison]:
    theory = figures["theory"]
    t, d = theory["record_tokens"], theory["descriptor_tokens"]
    break_even, example = theory["break_even"], theory["worked_example"]
    ratio = 1 - d / (break_even["n"] * t)
    yield _rounded(
        "theory/break_even/ratio",
        f"break-even k/n at n = {break_even['n']}",
        break_even["ratio"],
        ratio,
        3,
        "",
        "1 − d/(n·t)",
    )
    yield _rounded("theory/break_even/records", "break-even k", break_even["records"], ratio * break_even["n"], 0)
    yield _exact(
        "theory/example/inline", "inline tokens of the example", example["inline_tokens"], example["n"] * t, "n·t"
    )
    share_saved = savings(example["n"], example["k"], t, d)
    yield _rounded("theory/example/savings", "savings of the example", example["savings"], share_saved, 3)
    yield _rounded(
        "theory/example/percent",
        "savings of the example in the text",
        example["told_as_percent"],
        100 * share_saved,
        0,
        " %",
    )
    record_count = theory["threshold_tokens"] / t
    yield _rounded(
        "theory/threshold", "records at the threshold", theory["records_at_threshold"], record_count, 0, "", "τ/t"
    )


def _table1(figures: Figures) -> Iterator[Comparison]:
    theory, table = figures["theory"], figures["table1"]
    for ratio, row in table["rows"].items():
        for n, paper_value in zip(table["sizes"], row, strict=True):
            ours = 100 * savings(n, ratio * n, theory["record_tokens"], theory["descriptor_tokens"])
            yield _rounded(f"table1/{ratio}/{n}", f"savings at k/n = {ratio}, n = {n}", paper_value, ours, 1, " %")


# --- what follows from other tables


def _accuracies(figures: Figures, table: str, what: str) -> Iterator[Comparison]:
    """Comparisons of accuracies.

    Their values cannot be reproduced without a model, but it can be checked that they are shares of 15 tasks.
    """
    task_count = figures["source"]["tasks_per_run"]
    for row, cells in figures[table].items():
        for (n, model), paper_value in zip(_COLUMNS, cells, strict=True):
            correct_count = round(paper_value * task_count / 100)
            id, title = f"{table}/{row}/{n}/{model}", f"{what}, {row}, n = {n}, {model}"
            if abs(100 * correct_count / task_count - paper_value) > 0.05 + 1e-9:
                nearest = f"{correct_count}/{task_count} is {100 * correct_count / task_count:.1f} %"
                yield Comparison(
                    id, title, f"{paper_value} %", nearest, "contradicts", f"no share of {task_count} tasks"
                )
            else:
                low, high = wilson(correct_count, task_count)
                interval = f"{correct_count}/{task_count}, 95 % interval {100 * low:.0f} to {100 * high:.0f} %"
                yield Comparison(
                    id, title, f"{paper_value} %", interval, _NEEDS_MODEL, "the count follows from 15 tasks"
                )


def _table4(figures: Figures) -> Iterator[Comparison]:
    for row, cells in figures["table4"].items():
        for (n, model), paper_value in zip(_COLUMNS, cells, strict=True):
            title = f"E1 API tokens in thousands, {row}, n = {n}, {model}"
            yield Comparison(
                f"table4/{row}/{n}/{model}", title, f"{paper_value:,}", "", _NEEDS_MODEL, "depends on the turns taken"
            )


def _table5(figures: Figures) -> Iterator[Comparison]:
    lro, inline = figures["table4"]["LRO"], figures["table4"]["Inline"]
    for column, (n, model) in enumerate(_COLUMNS):
        ratio = lro[column] / inline[column]
        run_title = f"n = {n}, {model}"
        table = figures["table5"]
        yield _rounded(
            f"table5/ratio/{n}/{model}",
            f"LRO ÷ inline, {run_title}",
            table["ratio"][column],
            ratio,
            2,
            "×",
            "from Table 4",
        )
        percent = 100 * (1 - ratio)
        yield _rounded(
            f"table5/savings/{n}/{model}",
            f"savings, {run_title}",
            table["savings"][column],
            percent,
            0,
            " %",
            "from Table 4",
        )


def _table7(figures: Figures) -> Iterator[Comparison]:
    for row, paper_value in figures["table7"].items():
        cells = figures["table6"][row]
        correct_count = sum(round(cell * 15 / 100) for cell in cells)
        mean = 100 * correct_count / (15 * len(cells))
        yield _rounded(
            f"table7/{row}", f"E2 mean accuracy, {row}", paper_value, mean, 1, " %", f"{correct_count}/90, from Table 6"
        )


def _scores(figures: Figures) -> Iterator[Comparison]:
    titles = {"table9": ("E3 goal achievement", " %"), "table10": ("E3 pattern alignment", "")}
    for table, (what, unit) in titles.items():
        for row, cells in figures[table].items():
            for (n, model), paper_value in zip(_COLUMNS, cells, strict=True):
                title = f"{what}, {row}, n = {n}, {model}"
                yield Comparison(
                    f"{table}/{row}/{n}/{model}", title, f"{paper_value}{unit}", "", _NEEDS_MODEL, "and not defined"
                )


def fractions_near(percent: float, max_denominator: int = 93) -> list[tuple[int, int]]:
    """Fractions in lowest terms, with a denominator up to *max_denominator*, that print as *percent* with one digit."""
    from math import gcd

    return [
        (numerator, denominator)
        for denominator in range(1, max_denominator + 1)
        for numerator in range(denominator + 1)
        if gcd(numerator, denominator) == 1 and round(100 * numerator / denominator, 1) == percent
    ]


def _table11(figures: Figures) -> Iterator[Comparison]:
    for row, (accuracy, content, cost) in figures["table11"].items():
        yield _share_of_90(f"table11/{row}/accuracy", f"E4 mean accuracy, {row}", accuracy)
        yield Comparison(
            f"table11/{row}/content", f"E4 content tokens, {row}", f"{content:,}", "", _NEEDS_MODEL, "and not defined"
        )
        yield Comparison(f"table11/{row}/cost", f"E4 LLM cost, {row}", f"{cost:,}", "", _NEEDS_MODEL, "and not defined")


def _share_of_90(id: str, what: str, paper_value: float) -> Comparison:
    if any(round(100 * k / 90, 1) == paper_value for k in range(91)):
        return Comparison(id, what, f"{paper_value} %", "", _NEEDS_MODEL, "a share of 90 task evaluations")
    nearest = ", ".join(f"{k}/{denominator}" for k, denominator in fractions_near(paper_value)[:3])
    why = "a mean over 6 runs of 15 tasks is a share of 90"
    return Comparison(id, what, f"{paper_value} %", f"no share of 90; {nearest} would be", "contradicts", why)


def _cross_model(figures: Figures) -> Iterator[Comparison]:
    published_values = figures["cross_model"]
    rows = (
        ("lro_accuracy", "table3", "LRO", 1, " %", 0),
        ("inline_accuracy", "table3", "Inline", 1, " %", 0),
        ("inline_code_accuracy", "table3", "Inline+Code", 1, " %", 0),
        ("lro_tokens", "table4", "LRO", 0, " K", 200),
        ("inline_tokens", "table4", "Inline", 0, " K", 200),
    )
    for key, table, row, digits, unit, min_size in rows:
        for column, model in enumerate(MODELS):
            cells = [
                value
                for (n, m), value in zip(_COLUMNS, figures[table][row], strict=True)
                if m == model and n >= min_size
            ]
            mean = _mean_accuracy(cells) if table == "table3" else sum(cells) / len(cells)
            what = f"{key.replace('_', ' ')}, {model}"
            yield _rounded(
                f"cross_model/{key}/{model}", what, published_values[key][column], mean, digits, unit, f"from {table}"
            )
    yield from _recipe_benefit(figures)
    yield from _best_condition(figures)
    for column, model in enumerate(MODELS):
        what = f"filter accuracy of all conditions, {model}"
        yield _share_of_90(f"cross_model/filter_accuracy/{model}", what, published_values["filter_accuracy"][column])


def _mean_accuracy(cells: Sequence[float]) -> float:
    return 100 * sum(round(cell * 15 / 100) for cell in cells) / (15 * len(cells))


def _recipe_benefit(figures: Figures) -> Iterator[Comparison]:
    table = figures["table9"]
    for column, model in enumerate(MODELS):
        gains = [table["Recipe"][i] - table["NoRecipe"][i] for i in range(column, 6, 2)]
        low, high = figures["cross_model"]["recipe_benefit"][model]
        is_true = round(min(gains)) >= low and round(max(gains)) <= high
        ours = ", ".join(f"{gain:+.1f}" for gain in gains)
        what = f"recipe benefit in points, {model}"
        yield _claim(f"cross_model/recipe_benefit/{model}", what, f"+{low} to +{high}", ours, is_true, "from Table 9")


def _best_condition(figures: Figures) -> Iterator[Comparison]:
    for column, model in enumerate(MODELS):
        claim = figures["cross_model"]["best_condition"][model]
        cells = [figures["table6"][row][i] for row in claim["conditions"] for i in range(column, 6, 2)]
        low, high = claim["range"]
        is_true = round(min(cells)) >= low and round(max(cells)) <= high
        paper_value = f"{'/'.join(claim['conditions'])}, {low} to {high} %"
        ours = f"{min(cells):.1f} to {max(cells):.1f} %"
        yield _claim(
            f"cross_model/best_condition/{model}",
            f"best E2 condition, {model}",
            paper_value,
            ours,
            is_true,
            "from Table 6",
        )


# --- what the prose claims


def _claims(figures: Figures) -> Iterator[Comparison]:
    claims, t4 = figures["claims"], figures["table4"]
    savings_by_run = [100 * (1 - a / b) for a, b in zip(t4["LRO"], t4["Inline"], strict=True)]
    yield _range("savings_from_200", "savings at n ≥ 200", claims, savings_by_run[2:], "from Table 4")
    surplus = [100 * (a / b - 1) for a, b in zip(t4["Inline+Code"], t4["Inline"], strict=True)]
    low, high = claims["inline_code_surplus"]
    is_true = all(low <= round(value) <= high for value in surplus)
    ours = ", ".join(f"{value:+.0f}" for value in surplus) + " %"
    yield _claim(
        "claims/inline_code_surplus",
        "Inline+Code costs more than Inline",
        f"{low} to {high} %",
        ours,
        is_true,
        "all six cells",
    )
    ours = f"{-savings_by_run[0]:+.0f} % Haiku, {-savings_by_run[1]:+.0f} % GPT"
    is_true = all(-50 <= value <= 0 for value in savings_by_run[:2])
    yield _claim(
        "claims/overhead_at_50", "overhead of LRO at n = 50", claims["overhead_at_50"], ours, is_true, "from Table 4"
    )
    t3, t9 = figures["table3"], figures["table9"]
    row = t3["LRO"]
    yield _range("lro_accuracy", "accuracy of LRO", claims, row, "from Table 3")
    yield _range("lro_accuracy_e1", "accuracy of LRO in E1", claims, row, "from Table 3")
    yield _range("inline_accuracy", "accuracy of Inline", claims, t3["Inline"], "from Table 3")
    yield _range("inline_code_accuracy", "accuracy of Inline+Code", claims, t3["Inline+Code"], "from Table 3")
    summary_extremes = [t3["Summary"][1], t3["Summary"][4]]
    yield _range(
        "summary_accuracy", "Summary, Haiku at n = 500 and GPT at n = 50", claims, summary_extremes, "from Table 3"
    )
    means = [_mean_accuracy(figures["table6"][row]) for row in ("C1", "C2", "C3", "C4")]
    yield _range("e2_means", "means of E2 with offloading", claims, means, "from Table 6")
    e3 = [value for cells in figures["table8"].values() for value in cells]
    yield _range("e3_accuracy", "accuracy of E3", claims, e3, "from Table 8")
    haiku = [value for cells in t9.values() for value in cells[0::2]]
    yield _range("goal_haiku", "goal achievement of E3, Haiku", claims, haiku, "from Table 9")
    yield _range("goal_gpt_recipe", "goal achievement of Recipe, GPT", claims, t9["Recipe"][1::2], "from Table 9")
    yield _range(
        "goal_gpt_no_recipe", "goal achievement of NoRecipe, GPT", claims, t9["NoRecipe"][1::2], "from Table 9"
    )
    cost = [figures["table11"][row][2] / 1000 for row in ("C1", "C2", "C3", "C4")]
    yield _range("e4_cost", "LLM cost of E4 with offloading, thousands", claims, cost, "from Table 11", "")
    differences = [abs(a - b) for a, b in zip(row, figures["table6"]["C1"], strict=True)]
    ours = f"up to {max(differences):.1f} points apart, {sum(value > 0 for value in differences)} of 6 cells differ"
    what = "E1 LRO and E2 C1 are one setting"
    yield _claim("claims/same_setting", what, "same setting", ours, not any(differences), "Tables 3 and 6")
    low, high = claims["pages_of_an_inline_agent"]
    pages = [-(-n // 5) for n in PAPER_SIZES]
    is_true = all(low <= count <= high for count in pages)
    ours = ", ".join(f"{count} at n = {n}" for n, count in zip(PAPER_SIZES, pages, strict=True))
    yield _claim(
        "claims/pages_of_an_inline_agent",
        "pages of an inline agent",
        f"{low} to {high}",
        ours,
        is_true,
        "5 records a page",
    )
    t, context_window = figures["theory"]["record_tokens"], 200_000
    ours = ", ".join(f"{n * t:,} tokens at n = {n}" for n in PAPER_SIZES[1:])
    limit = claims["inline_overflows_beyond"]
    overflows = all(n * t > context_window for n in PAPER_SIZES[1:])
    what, why = (
        f"inline overflows the context beyond n = {limit}",
        f"window of {context_window:,}; the paper reports results there, too",
    )
    yield _claim("claims/inline_overflows_beyond", what, "untestable", ours, overflows, why)
    t11 = figures["table11"]
    ratios = [t11["C5"][2] / t11[row][2] for row in ("C1", "C2", "C3", "C4")]
    is_true = all(abs(value - claims["c5_times_lro"]) <= 0.5 for value in ratios)
    ours = ", ".join(f"{value:.2f}" for value in ratios)
    yield _claim(
        "claims/c5_times_lro",
        "tokens of C5 ÷ tokens of LRO (C1 to C4)",
        str(claims["c5_times_lro"]),
        ours,
        is_true,
        "from Table 11",
    )
    is_below = claims["access_ratio"][1] < claims["access_threshold"]
    paper_value = f"{claims['access_ratio'][0]} to {claims['access_ratio'][1]}"
    what = "access ratio below its threshold"
    yield _claim("claims/access_ratio", what, paper_value, f"threshold {claims['access_threshold']}", is_below)
    why = "needs the paper's machine and runs; `--timing` measures ours"
    yield Comparison("claims/file_write_ms", "file write, ms", str(claims["file_write_ms"]), "", _NEEDS_MODEL, why)
    low, high = claims["shell_start_ms"]
    yield Comparison("claims/shell_start_ms", "start of jq or grep, ms", f"{low} to {high}", "", _NEEDS_MODEL, why)
    low, high = claims["api_round_trip_ms"]
    why = "depends on the provider"
    yield Comparison("claims/api_round_trip_ms", "API round trip, ms", f"{low} to {high}", "", _NEEDS_MODEL, why)
    paper_value = claims["guided"]
    yield Comparison("claims/guided", "E2 guided against natural", paper_value, "", _NEEDS_MODEL, "no table is given")


def _range(
    key: str, what: str, claims: Mapping[str, Any], values: Sequence[float], why: str, unit: str = " %"
) -> Comparison:
    """A range of whole numbers in the prose, compared with the smallest and largest of the table's cells (*values*)."""
    low, high = claims[key]
    is_exact = (round(min(values)), round(max(values))) == (low, high)
    ours = f"{min(values):.1f} to {max(values):.1f}{unit}"
    return _claim(f"claims/{key}", what, f"{low} to {high}{unit}", ours, is_exact, why)


def _literature(figures: Figures) -> Iterator[Comparison]:
    for row, paper_value in figures["table2"].items():
        why = "a figure of another publication, which the paper cites"
        yield Comparison(f"table2/{row}", f"savings of {row}", paper_value, "", _NEEDS_MODEL, why)


def _ground_truth(figures: Figures) -> Iterator[Comparison]:
    low, high = figures["source"]["filter_matches"]
    for n in PAPER_SIZES:
        answers = [int(task.answer) for task in tasks("aggregate_filter/paper", n)]
        ours = f"{min(answers)} to {max(answers)}, by Python and by jq"
        is_true = low <= min(answers) and max(answers) <= high
        what = f"matches of the filters of E4, n = {n}"
        yield _claim(f"design/matches/{n}", what, f"{low} to {high}", ours, is_true, "lro bench corpora --verify")


# --- confounds


def messages_to_read(pages: int, *, at_once: bool) -> int:
    """Number of messages of a conversation that reads *pages* pages, one page per turn or all pages *at_once*."""
    return 2 + (1 + pages if at_once else 2 * pages) + 1


def _confounds(figures: Figures) -> Iterator[Comparison]:
    limit = figures["source"]["message_limit"]
    for row, size in _PAGE_SIZES.items():
        for n in PAPER_SIZES:
            pages = -(-n // size)
            one_per_turn, all_at_once = messages_to_read(pages, at_once=False), messages_to_read(pages, at_once=True)
            cells = [value for (m, _), value in zip(_COLUMNS, figures["table3"][row], strict=True) if m == n]
            is_readable = all_at_once <= limit
            paper_value = f"{limit} messages; " + ", ".join(f"{value} %" for value in cells)
            ours = f"{pages} pages: {one_per_turn} messages, {all_at_once} with all calls in one turn"
            is_contradicted = not is_readable and max(cells) > 0
            why = (
                "right answers without all pages are guesses"
                if is_contradicted
                else ""
                if is_readable
                else "unreachable"
            )
            id = f"confounds/{'readable' if is_readable else 'unreadable'}/{row}/{n}"
            yield _claim(id, f"{row}, n = {n}: all pages within the limit", paper_value, ours, not is_contradicted, why)
    answers = {task.answer for n in PAPER_SIZES for task in tasks("id_lookup/paper", n)}
    why = "a constant answer scores 100 %: see the null agents"
    yield _claim(
        "confounds/constant_answer",
        "answers of id_lookup",
        "always 8",
        f"{len(answers)} different",
        len(answers) > 1,
        why,
    )
    row = figures["table3"]["Truncation"]
    is_true = max(row) == 100
    why = "reading the file suffices: access is the cause, not the shell"
    yield _claim(
        "confounds/truncation",
        "Truncation, without a shell, reaches",
        f"{max(row)} %",
        "possible, see the oracle",
        is_true,
        why,
    )
    low, high = wilson(14, 15)
    yield Comparison(
        "confounds/one_task",
        "one task of 15",
        "no interval given",
        f"6.7 points; 14/15 is {100 * low:.0f} to {100 * high:.0f} %",
        "measured here",
        "Wilson, 95 %",
    )
    c4, c1 = (sum(round(cell * 15 / 100) for cell in figures["table6"][row]) for row in ("C4", "C1"))
    p_value = fisher(c4, 90, c1, 90)
    yield Comparison(
        "confounds/c4_against_c1",
        "C4 against C1",
        "no test given",
        f"{c4}/90, {c1}/90: p = {p_value:.3f}",
        "measured here",
        "Fisher, before any correction",
    )
    for n in PAPER_SIZES:
        feasible = sum(feasible_filters(n).values())
        ours = f"{feasible:,} filters have 3 to 50 matches"
        yield Comparison(
            f"confounds/feasible/{n}", f"tasks of E4 at n = {n}", "15", ours, "measured here", "in our corpus"
        )


# --- material of the benchmark


def _material(figures: Figures) -> Iterator[Comparison]:
    from lro_bench.material import descriptor_sizes, page_tokens

    t, d = figures["theory"]["record_tokens"], figures["theory"]["descriptor_tokens"]
    for n in PAPER_SIZES:
        ours = f"{corpus(n).mean_tokens:.1f}"
        yield Comparison(
            f"material/record/{n}",
            f"tokens a record, n = {n}",
            str(t),
            ours,
            "measured here",
            "characters ÷ 4; made to be 155 ± 2",
        )
    for n in PAPER_SIZES:
        for name, (estimate, tokens) in descriptor_sizes(n).items():
            paper_value = str(d) if name == "C1" else ""
            ours = f"{estimate:,} by characters ÷ 4, {tokens:,} by o200k"
            yield Comparison(
                f"material/descriptor/{name}/{n}",
                f"tokens of the descriptor {name}, n = {n}",
                paper_value,
                ours,
                "measured here",
                "of the reference interceptor",
            )
    for n in PAPER_SIZES:
        for size in (5, 10):
            counted_once, summed = page_tokens(n, size)
            pages = -(-n // size)
            formula = size * t * pages * (pages + 1) // 2
            ours = f"{counted_once:,} once, {summed:,} if one page a turn"
            what = f"tokens of all pages of {size}, n = {n}"
            why = f"o200k; g·t·p(p+1)/2 gives {formula:,}"
            yield Comparison(f"material/pages/{size}/{n}", what, "", ours, "measured here", why)
