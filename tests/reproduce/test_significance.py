"""Tests of ours against a paper's column, compared with counts by hand."""

from __future__ import annotations

from itertools import combinations

import pytest

from islands.reproduce.cells import significance

pytest.importorskip("scipy")


def test_both_tests_are_in_one_sentence() -> None:
    pairs = [(1.0, 5.0), (2.0, 7.0), (3.0, 8.5), (6.0, 12.0)]
    facts = {fact.name: fact for fact in significance("gap", "ours against 2021", pairs)}
    # All four differences are negative: two of sixteen assignments of signs are as extreme.
    assert facts["wilcoxon_p_gap"].value == pytest.approx(2 / 16)
    assert facts["wilcoxon_better_gap"].value == "ours"
    ours, theirs = zip(*pairs, strict=True)
    smaller = sum(a < b for a in ours for b in theirs)
    assert facts["effect_a_gap"].value == pytest.approx(smaller / 16)
    # The share of all divisions of the eight values into two fours that are as uneven.
    every = [*ours, *theirs]

    def uneven(first: tuple[int, ...]) -> float:
        rest = [every[i] for i in range(8) if i not in first]
        return abs(sum(every[i] < b for i in first for b in rest) - 8)

    found = uneven((0, 1, 2, 3))
    splits = [*combinations(range(8), 4)]
    exact = sum(uneven(each) >= found for each in splits) / len(splits)
    assert facts["mann_whitney_p_gap"].value == pytest.approx(exact)
    assert facts["wilcoxon_p_gap"].sentence == (
        "ours against 2021: Wilcoxon p = 0.12 on 4 pairs, no significant difference;"
        f" Mann-Whitney p = {exact:.2g} (not significant), A = {smaller / 16:.2f} (large)"
    )


def test_costs_of_different_sizes_are_scaled_for_the_test_without_pairs() -> None:
    pairs, ratios = [(110.0, 100.0), (11_000.0, 10_000.0)], [(1.1, 1.0), (1.1, 1.0)]
    plain = {fact.name: fact.value for fact in significance("a", "", pairs)}
    scaled = {fact.name: fact.value for fact in significance("a", "", pairs, ratios)}
    assert plain["effect_a_a"] == 0.25
    assert scaled["effect_a_a"] == 0.0
    assert plain["wilcoxon_p_a"] == scaled["wilcoxon_p_a"]


def test_without_pairs_there_is_no_test() -> None:
    assert significance("gap", "", []) == []
