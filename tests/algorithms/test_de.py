"""Differential evolution on all devices compared with NumPy, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy_de import PROBLEMS, assert_same, both
from numpy_islands import DONORS, words
from problems_for_tests import NUMBERS, facilities

from islands.backends.base import Backend

STRATEGIES = ["rand/1", "best/1", "current-to-best/1", "current-to-pbest/1"]


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 26])
def test_run_with_migration_equals_the_reference(
    backend: Backend, kind: str, n: int, tmp_path: Path
) -> None:
    mine, reference = both(backend, PROBLEMS[kind](n, tmp_path), topology="ring")
    assert_same(mine, reference)
    for _ in range(2):
        mine.advance(4)
        mine.migrate()
        reference.evolve(4)
        reference.exchange_in_ring(2)
        assert_same(mine, reference)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("n", [1, 6, 31])
def test_numbers_equal_the_reference(backend: Backend, kind: str, strategy: str, n: int) -> None:
    problem = NUMBERS[kind](n)
    mine, reference = both(
        backend, problem, topology="ring", strategy=strategy, adaptation="jde", reset=5
    )
    assert_same(mine, reference)
    for _ in range(3):
        mine.advance(4)
        reference.evolve(4)
        assert_same(mine, reference)
        mine.migrate()
        reference.exchange_in_ring(2)
    assert all(mine._encodings[0].holds(keys) for keys in reference.keys)
    assert mine.best().cost == problem.cost(mine.best().solution)


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


@pytest.mark.parametrize("adaptation", ["none", "jde", "nearby"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_each_strategy_and_adaptation_equals_the_reference(
    backend: Backend, strategy: str, adaptation: str
) -> None:
    mine, reference = both(
        backend, facilities(13), strategy=strategy, adaptation=adaptation, F=0.5, Cr=0.6, low=-1,
        high=7, topology="ring",
    )  # fmt: skip
    for _ in range(2):
        mine.advance(8)
        reference.evolve(8)
        assert_same(mine, reference)
        mine.migrate()
        reference.exchange_in_ring(2)
    if adaptation != "none":
        assert len({rate for island in reference.rates for rate in island}) > 10


@pytest.mark.parametrize("adaptation", ["none", "jde", "nearby"])
def test_islands_restart_after_stagnation_and_keep_the_best(
    backend: Backend, adaptation: str
) -> None:
    problem = facilities(5)
    mine, reference = both(backend, problem, reset=3, adaptation=adaptation)
    best = [int(cost.min()) for cost in reference.cost]
    for _ in range(12):
        mine.advance(2)
        for _ in range(2):
            reference.evolve(1)
            best = [min(old, int(new.min())) for old, new in zip(best, reference.cost, strict=True)]
        assert_same(mine, reference)
    assert reference.restarts > 3
    assert [measure.best for measure in mine.measure()] == best
    assert mine.best().cost == min(best) == problem.cost(mine.best().solution)


def test_given_solutions_are_the_first_individuals(backend: Backend) -> None:
    problem = facilities(15)
    orders = [np.random.default_rng(i).permutation(15).astype(np.int64) for i in range(5)]
    mine, _ = both(backend, problem, warm_start=lambda: orders)
    costs = problem.costs(np.stack(orders)).tolist()
    saved = mine.snapshot()["cost"]
    given = [saved[island, : len(orders[island::3])].tolist() for island in range(3)]
    assert given == [costs[island::3] for island in range(3)]


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
