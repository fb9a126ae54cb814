"""Differential evolution: its trials with extreme and equal keys, and its draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_de import PROBLEMS, NumpyDe, assert_same, both
from numpy_improvers import NumpyLocalSearch
from numpy_islands import DONORS, words
from problems_for_tests import NUMBERS, facilities

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend


@pytest.mark.parametrize("kind", NUMBERS)
def test_bounded_genes_cover_their_range_and_reach_the_bounds(backend: Backend, kind: str) -> None:
    mine, _ = both(backend, NUMBERS[kind](8), Cr=1, F=2)
    first = mine.snapshot()["genes"][:, :, :8]
    assert first.min() < 0.05
    assert first.max() > 0.95
    mine.advance(40)
    genes = mine.snapshot()["genes"][:, :, :8]
    assert mine._encodings[0].holds(genes.reshape(-1, 8))
    assert genes[:, :, 0].max() > 0.99, "the best value of the first gene is its upper bound"


def test_all_choices_of_donors_are_equally_likely() -> None:
    """Test the reference, which equals the kernels, with a population of five."""
    seen = np.zeros((5, 5, 5, 5), int)
    for generation in range(800):
        for slot in range(5):
            others = [other for other in range(5) if other != slot]
            draws = words(4, DONORS, 1, 0, generation, slot).tolist()[:3]
            a, b, c = (others.pop(draw * len(others) >> 32) for draw in draws)
            seen[slot, a, b, c] += 1
    counts = seen[seen > 0]
    assert len(counts) == 5 * 4 * 3 * 2
    # The chi-square statistic of 115 degrees of freedom exceeds 190 once in a hundred thousand.
    assert ((counts - 800 / 24) ** 2 / (800 / 24)).sum() < 190


def take_over(mine: Archipelago, reference: NumpyDe, saved: dict[str, Any]) -> None:
    """Replace the population of both by a changed one."""
    mine.restore(saved, generation=0, migrations=0)
    reference.keys = [island[:, : reference.n].copy() for island in saved["genes"]]
    reference.cost = [island.copy() for island in saved["cost"]]


@pytest.mark.parametrize("kind", PROBLEMS)
def test_improvers_make_equal_keys_different(backend: Backend, kind: str, tmp_path: Path) -> None:
    """Sums of small integers are often equal, but improved keys must be different."""
    problem = PROBLEMS[kind](9, tmp_path)
    search = NumpyLocalSearch(problem, "swap", steps=1)
    mine, reference = both(backend, problem, search=search, islands=1, F=1)
    saved = mine.snapshot()
    saved["genes"] = np.floor(saved["genes"] / 2)
    solutions = reference.decoded(saved["genes"][0, :, :9])
    saved["cost"] = problem.costs(solutions)[np.newaxis]
    take_over(mine, reference, saved)
    mine.advance(6)
    reference.evolve(6)
    assert_same(mine, reference)
    saved = mine.snapshot()
    assert (problem.costs(reference.decoded(saved["genes"][0, :, :9])) == saved["cost"]).all()


def test_trials_with_infinite_keys_are_rejected(backend: Backend) -> None:
    mine, reference = both(
        backend, facilities(6), strategy="current-to-best/1", F=2, Cr=1, islands=1
    )
    # With the highest possible costs, selection accepts all trials.
    saved = mine.snapshot()
    saved["genes"] = np.where(saved["genes"] > 0, np.float32(9e29), np.float32(-9e29))
    saved["genes"][0, 3, 1] = np.float32(3e38)
    saved["cost"] += 10**9
    take_over(mine, reference, saved)
    mine.advance(3)
    reference.evolve(3)
    assert_same(mine, reference)
    assert np.isfinite(mine.snapshot()["genes"]).all()
