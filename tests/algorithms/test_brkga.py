"""BRKGA on all devices compared with a NumPy reference, bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy_brkga import NumpyBrkga, archipelago, assert_same, genes_and_costs
from problems_for_tests import NUMBERS, cities

from islands.backends.base import Backend


def word(*shares: float) -> list[int]:
    return [round(share * 2**32) for share in shares]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 63, 200])
def test_run_with_migration_equals_the_reference(backend: Backend, n: int, tmp_path: Path) -> None:
    problem = cities(n, tmp_path)
    mine = archipelago(backend, problem, migrants=2)
    reference = NumpyBrkga(
        n, problem.costs, population=20, elite=4, mutants=2, bias=word(0.7), islands=3, seed=5
    )
    mine.start()
    assert_same(mine, reference)
    for _ in range(2):
        mine.advance(4)
        mine.migrate()
        reference.evolve(4)
        reference.exchange(2)
        assert_same(mine, reference)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("n", [1, 3, 8, 61])
def test_numbers_equal_the_reference(backend: Backend, kind: str, n: int) -> None:
    problem = NUMBERS[kind](n)
    mine = archipelago(backend, problem, migrants=2, reset=3)
    reference = NumpyBrkga(
        n, problem.costs, population=20, elite=4, mutants=2, bias=word(0.7), islands=3, seed=5,
        patience=3, encoding=mine._encodings[0],
    )  # fmt: skip
    mine.start()
    for _ in range(3):
        mine.advance(4)
        reference.evolve(4)
        assert_same(mine, reference)
        mine.migrate()
        reference.exchange(2)
    best = mine.best()
    assert best.cost == problem.cost(best.solution)
    assert mine._encodings[0].holds(best.genome[np.newaxis])


@pytest.mark.parametrize(
    ("parents", "elite_parents", "bias", "shares"),
    [
        (3, 2, "constant", [1 / 3, 2 / 3]),
        (3, 1, "linear", [6 / 11, 9 / 11]),
        (4, 4, "quadratic", list(np.cumsum([144, 36, 16]) / 205)),
        (8, 3, "constant", [i / 8 for i in range(1, 8)]),
    ],
)
def test_several_parents_equal_the_reference(
    backend: Backend,
    parents: int,
    elite_parents: int,
    bias: str,
    shares: list[float],
    tmp_path: Path,
) -> None:
    problem = cities(30, tmp_path)
    mine = archipelago(
        backend, problem, parents=parents, elite_parents=elite_parents, bias=bias, islands=1
    )
    reference = NumpyBrkga(
        30, problem.costs, population=20, elite=4, mutants=2, bias=word(*shares),
        elite_parents=elite_parents, seed=5,
    )  # fmt: skip
    mine.start()
    mine.advance(5)
    reference.evolve(5)
    assert_same(mine, reference)


def test_islands_restart_after_stagnation_and_keep_the_best(
    backend: Backend, tmp_path: Path
) -> None:
    problem = cities(7, tmp_path)
    mine = archipelago(backend, problem, reset=3, topology="none")
    reference = NumpyBrkga(
        7,
        problem.costs,
        population=20,
        elite=4,
        mutants=2,
        bias=word(0.7),
        islands=3,
        seed=5,
        patience=3,
    )
    mine.start()
    best = [min(row) for row in reference.cost]
    for _ in range(30):
        mine.advance(1)
        reference.evolve(1)
        best = [min(old, int(cost.min())) for old, cost in zip(best, reference.cost, strict=True)]
    assert_same(mine, reference)
    assert [measure.best for measure in mine.measure()] == best
    assert mine.best().cost == min(best) == problem.cost(mine.best().solution)
    assert [each.cost for each in mine.elite(3)] == sorted(each.cost for each in mine.elite(3))
    fresh = sum(measure.evaluations for measure in mine.measure()) - 3 * (20 + 30 * 16)
    assert fresh > 0
    assert fresh % 4 == 0


def test_given_solutions_are_the_first_individuals(backend: Backend, tmp_path: Path) -> None:
    problem = cities(40, tmp_path)
    tours = [np.random.default_rng(i).permutation(40).astype(np.int64) for i in range(5)]
    mine = archipelago(backend, problem, warm_start=lambda: tours)
    mine.start()
    costs = problem.costs(np.stack(tours)).tolist()
    given = [
        cost[: len(tours[island::3])].tolist()
        for island, (_, cost) in enumerate(genes_and_costs(mine))
    ]
    assert given == [costs[island::3] for island in range(3)]
