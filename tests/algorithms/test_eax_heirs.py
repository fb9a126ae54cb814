"""Edge assembly crossover: the tours that a converged population leaves to the next one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from eax_for_tests import BLOCK, DONE, SINGLE, field, genes, placed, require_consistent, tours
from problems_for_tests import cities

from islands.algorithms.eax import Eax
from islands.archipelago.measure import ISLAND
from islands.backends.base import Backend
from islands.problems.tsp import Tsp

NO_COST = np.iinfo(np.int64).max
MOST_FAILURES = 2
PHASE, SLEEPS = 0, 5
"""Entries of a stage."""


class Line:
    """The populations of an island, as the rules describe them."""

    def __init__(self) -> None:
        self.inherited, self.failures = NO_COST, 0

    def next_sleeps(self, best: int) -> bool:
        """Return whether the heir of a converged population, its best tour, sleeps."""
        self.failures = 0 if best < self.inherited else self.failures + 1
        self.inherited = best
        sleeps = self.failures == MOST_FAILURES
        self.failures = 0 if sleeps else self.failures
        return sleeps


@pytest.mark.slow
def test_populations_begin_with_the_best_tour_of_the_last_one(
    backend: Backend, tmp_path: Path
) -> None:
    mine = tours(backend, cities(120, tmp_path), population=6, islands=3)
    lines, seen, woken = [Line() for _ in range(3)], set[bool](), 0
    for _ in range(400):
        before, old, costs = field(mine, "stage"), genes(mine), field(mine, "cost")
        mine.advance(1)
        after, new = field(mine, "stage"), genes(mine)
        for island in range(3):
            if before[island, PHASE] == DONE:
                best = int(np.argmin(costs[island]))
                sleeps = lines[island].next_sleeps(int(costs[island, best]))
                assert after[island, [PHASE, SLEEPS]].tolist() == [SINGLE, sleeps]
                assert (new[island, 0] == old[island, best]).all()
                assert (new[island, 1:] != old[island, 1:]).any(axis=1).all()
                seen.add(sleeps)
            elif before[island, SLEEPS]:
                assert (new[island, 0] == old[island, 0]).all()
                if not after[island, SLEEPS]:
                    assert (before[island, PHASE], after[island, PHASE]) == (BLOCK, SINGLE)
                    woken += 1
            assert field(mine, "cost")[island].min() <= costs[island].min()
        require_consistent(mine)
    assert seen == {False, True}
    assert woken > 0


def test_a_sleeping_heir_does_not_change_the_new_tours(backend: Backend, tmp_path: Path) -> None:
    """Children are chosen by length alone, as an heir's edges count in the entropy."""
    problem = cities(80, tmp_path)
    mine = tours(backend, problem, population=8, islands=1, selection="greedy")
    for _ in range(2000):
        mine.advance(1)
        if field(mine, "stage")[0, SLEEPS]:
            break
    saved, generation = mine.snapshot(), mine.generation
    ends = []
    for heir in (saved["genes"][0, 0, :80].copy(), np.arange(80)):
        saved["genes"][0, 0, :80] = heir
        saved["cost"][0, 0] = problem.costs(heir[np.newaxis].astype(np.int64))[0]
        mine.restore(saved, generation=generation, migrations=0)
        steps = 0
        while field(mine, "stage")[0, SLEEPS]:
            mine.advance(1)
            steps += 1
        ends.append((steps, genes(mine)[0]))
    (steps, one), (others, other) = ends
    assert steps == others > 5
    assert (one[1:] == other[1:]).all()
    assert (one[0] != other[0]).any()


def test_a_run_is_restored_while_an_heir_sleeps(backend: Backend, tmp_path: Path) -> None:
    problem = cities(60, tmp_path)
    whole, second = (tours(backend, problem, population=6, topology="ring") for _ in range(2))
    while not field(whole, "stage")[:, SLEEPS].any():
        assert whole.generation < 2000
        whole.advance(1)
    second.restore(whole.snapshot(), generation=whole.generation, migrations=whole.migrations)
    for mine in (whole, second):
        mine.migrate()  # the best tour of an island, which may sleep, emigrates
        mine.advance(1)
        require_consistent(mine)
        mine.advance(60)
    assert whole.digests() == second.digests()


@pytest.mark.parametrize("population", [2, 3])
def test_tiny_populations_keep_their_best_tour(
    population: int, backend: Backend, tmp_path: Path
) -> None:
    mine = tours(backend, cities(30, tmp_path), population=population)
    best = field(mine, "cost").min(axis=1)
    for _ in range(30):
        mine.advance(10)
        now = field(mine, "cost").min(axis=1)
        assert (now <= best).all()
        best = now
    require_consistent(mine)
    assert (field(mine, "island")[:, ISLAND.index("ended")] > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "optimum"), [("d198", 15780), ("fl417", 11861)])
def test_clusters_on_a_board_are_solved(
    name: str, optimum: int, backend: Backend, published: Path
) -> None:
    problem = Tsp.read(published / "tsplib" / f"{name}.tsp")
    mine = tours(backend, problem, population=30, islands=8)
    mine.advance(60)
    best = mine.best()
    assert best is not None
    assert best.cost == optimum


@pytest.mark.parametrize(
    ("n", "seconds", "on_gpu", "population", "children", "is_greedy"),
    [
        (6000, 60, False, 600, 40, False),
        (8000, 1, False, 30, 50, True),
        (20_000, 2, True, 390, 120, False),
        (65_536, 60, True, 1000, 120, False),
        (65_537, 60, True, 490, 120, True),
    ],
)
def test_the_time_limit_determines_the_population(
    n: int, seconds: float, on_gpu: bool, population: int, children: int, is_greedy: bool
) -> None:
    problem = placed(np.arange(2 * n).reshape(n, 2))
    found = {"islands": 1, "population": population, "children": children}
    more = {"first_tours": "greedy"} if is_greedy else {}
    assert Eax.defaults(problem, seconds, lambda: on_gpu) == found | more


def test_mixed_tours_are_greedy_and_to_the_nearest_in_turn(
    backend: Backend, tmp_path: Path
) -> None:
    problem = cities(80, tmp_path)
    mixed, greedy, nearest = (
        genes(tours(backend, problem, first_tours=way)) for way in ("mixed", "greedy", "nearest")
    )
    assert (mixed[:, ::2] == greedy[:, ::2]).all()
    assert (mixed[:, 1::2] == nearest[:, 1::2]).all()
    assert (greedy != nearest).any()
