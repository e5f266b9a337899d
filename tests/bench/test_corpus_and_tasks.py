"""Corpora and tasks: the same bytes each time, and answers that two evaluations agree on."""

from __future__ import annotations

from collections import Counter

import pytest

from lro_bench.corpus import MEAN_TOKENS, PAPER_SIZES, PRODUCTS, SIZES, TOLERANCE, Dice, corpus
from lro_bench.digests import check_digests, compute_digests, disagreements, recorded_digests
from lro_bench.tasks import FAMILIES, MATCH_RANGE, TASKS_PER_FAMILY, tasks


def test_corpora_and_tasks_are_those_of_the_recorded_digests() -> None:
    assert compute_digests(PAPER_SIZES) == {
        name: d for name, d in recorded_digests().items() if not name.endswith("/5000")
    }


def test_a_changed_digest_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lro_bench.digests.recorded_digests", lambda: {**recorded_digests(), "corpus/50": "0"})
    (difference,) = check_digests(lambda text: None, verify=False, sizes=(50,))
    assert difference.startswith("corpus/50: expected the digest 0, got ")


@pytest.mark.parametrize("n", PAPER_SIZES)
def test_both_evaluations_agree_on_every_task(n: int) -> None:
    assert disagreements(n) == []


@pytest.mark.long
def test_both_evaluations_agree_on_the_largest_corpus() -> None:
    assert compute_digests((5000,)).items() <= recorded_digests().items()
    assert disagreements(5000) == []


@pytest.mark.parametrize("n", PAPER_SIZES)
def test_a_record_has_the_published_size_on_average(n: int) -> None:
    assert abs(corpus(n).mean_tokens - MEAN_TOKENS) <= TOLERANCE
    assert len({record["id"] for record in corpus(n).records}) == n


def test_each_product_is_mentioned_by_about_twelve_percent_of_the_records() -> None:
    data = corpus(5000)
    shares = [sum(name in record["content"] for record in data.records) / data.size for name in PRODUCTS]
    assert all(0.10 < share < 0.14 for share in shares)


def test_the_published_lookup_has_one_answer_and_the_corrected_one_has_many() -> None:
    assert {task.answer for task in tasks("id_lookup/paper", 50)} == {"8"}
    assert len({task.answer for task in tasks("id_lookup/varied", 50)}) >= 5


@pytest.mark.parametrize("family", [name for name, family in FAMILIES.items() if not family.is_published])
@pytest.mark.parametrize("n", SIZES[:3])
def test_no_constant_answer_does_well_in_a_corrected_family(family: str, n: int) -> None:
    answers = Counter(task.answer for task in tasks(family, n))
    assert max(answers.values()) <= 4
    assert answers.total() >= TASKS_PER_FAMILY - 1


@pytest.mark.parametrize("n", PAPER_SIZES)
def test_published_filters_match_three_to_fifty_records(n: int) -> None:
    answers = [int(task.answer) for task in tasks("aggregate_filter/paper", n)]
    assert len(answers) == TASKS_PER_FAMILY
    assert all(MATCH_RANGE[0] <= answer <= MATCH_RANGE[1] for answer in answers)


def test_dice_with_the_same_seed_fall_the_same() -> None:
    assert [Dice(1, "x").integer(0, 9) for _ in range(3)] == [Dice(1, "x").integer(0, 9)] * 3
    assert Dice(1, "x").uuid() != Dice(1, "y").uuid()
