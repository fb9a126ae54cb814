"""Edge assembly crossover: the tours that a converged population leaves to the next one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eax_for_tests import DONE, SINGLE, field, genes, placed, require_consistent, tours
from problems_for_tests import cities

from islands.algorithms.eax import Eax
from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import ISLAND
from islands.backends.base import Backend
from islands.problems.tsp import Tsp

NO_COST = np.iinfo(np.int64).max
MOST_FAILURES = 2


class Line:
    """The populations of an island, as the rules describe them."""

    def __init__(self) -> None:
        self.inherited, self.failures = NO_COST, 0
        self.seen = set[str]()

    def heirs(self, mine: Archipelago, island: int) -> dict[int, Any]:
        """Return the tours of a converged population that must be in the next one, by slot."""
        costs = field(mine, "cost")[island]
        slot = int(np.argmin(costs))
        archived = int(field(mine, "island")[island, ISLAND.index("archived")])
        self.failures = 0 if costs[slot] < self.inherited else self.failures + 1
        if self.failures == MOST_FAILURES:
            self.inherited, self.failures = NO_COST, 0
            self.seen.add("none")
            return {}
        found = {slot: genes(mine)[island, slot]}
        self.inherited = min(int(costs[slot]), archived)
        self.seen.add("best")
        if archived < costs[slot]:
            n = mine._colonies[0]._problem.size
            found[(slot + 1) % len(costs)] = field(mine, "archive")[island, :n]
            self.seen.add("champion")
        return found


def test_populations_begin_with_their_heirs(backend: Backend, tmp_path: Path) -> None:
    mine = tours(backend, cities(120, tmp_path), population=6, islands=3)
    lines = [Line() for _ in range(3)]
    for _ in range(400):
        phases = field(mine, "stage")[:, 0]
        expected = {i: lines[i].heirs(mine, i) for i in np.flatnonzero(phases == DONE).tolist()}
        before = genes(mine)
        mine.advance(1)
        for island, heirs in expected.items():
            assert field(mine, "stage")[island, 0] == SINGLE
            for slot, tour in enumerate(genes(mine)[island]):
                if slot in heirs:
                    assert (tour == heirs[slot]).all()
                else:
                    assert (tour != before[island, slot]).any()
            require_consistent(mine)
    assert set[str]().union(*(line.seen for line in lines)) == {"best", "champion", "none"}


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
    ("n", "seconds", "on_gpu", "expected"),
    [
        (1500, 10, False, {"islands": 1, "population": 300}),
        (5000, 2, False, {"islands": 1, "population": 30, "first_tours": "greedy"}),
        (8000, 2, True, {"islands": 1, "population": 770}),
        (65536, 60, True, {"islands": 1, "population": 980}),
        (65537, 60, True, {"islands": 1, "population": 490}),
        (65537, 600, False, {"islands": 1, "population": 150}),
    ],
    ids=[
        *("enough for the largest", "too short", "as large as time permits"),
        *("the last narrow one", "the first wide one", "a wide one on a CPU"),
    ],
)
def test_the_time_limit_determines_the_population(
    n: int, seconds: float, on_gpu: bool, expected: dict[str, Any]
) -> None:
    problem = placed(np.arange(2 * n).reshape(n, 2))
    assert Eax.defaults(problem, seconds, lambda: on_gpu) == expected


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
