from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems_for_tests import cities

from islands import Solver
from islands.instances.synthetic import uniform_tsp
from islands.migration import TOPOLOGIES
from islands.parallel import World, world
from islands.problems.tsp import Tsp

SETTINGS: dict[str, Any] = {"population": 24, "seed": 6, "backend": "cpu", "threads": 1}


def islands_of(solver: Solver) -> list[list[tuple[int, ...]]]:
    """Return each island's individuals, best first, as their costs and keys."""
    mine = solver._archipelago
    found = []
    for local in range(len(mine.mine)):
        costs = mine._backend.download(mine._cost)[mine.generation % 2, local]
        keys = mine._backend.download(mine._genes_of(local))
        rows = np.argsort(costs, kind="stable")
        found.append([(int(costs[row]), *keys[row, :4].tolist()) for row in rows])
    return found


def test_the_best_of_the_predecessor_replace_the_worst(tmp_path: Path) -> None:
    solver = Solver(cities(30, tmp_path), islands=3, migration="ring", migrants=2, **SETTINGS)
    before = islands_of(solver)
    solver.exchange()
    for island, after in enumerate(islands_of(solver)):
        expected = [*before[island][:-2], *before[(island - 1) % 3][:2]]
        assert sorted(after) == sorted(expected)


def test_one_island_or_none_to_send_changes_nothing(tmp_path: Path) -> None:
    for settings in ({"islands": 1, "migration": "ring"}, {"islands": 3, "migration": "none"}):
        solver = Solver(cities(12, tmp_path), **settings, **SETTINGS)
        before = islands_of(solver)
        solver.exchange()
        assert islands_of(solver) == before
        assert solver._archipelago.road == "none"


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("islands", [3, 8])
def test_ranks_exchange_as_one_rank_does(topology: str, islands: int) -> None:
    ranks = world()
    problem = Tsp(uniform_tsp(20, seed=1))
    digests = []
    for each in (World(), ranks):
        settings = {"islands": islands, "migration": topology, "migrants": 3, **SETTINGS}
        solver = Solver(problem, world=each, **settings)
        for _ in range(3):
            solver.evolve(2)
            solver.exchange()
        found = each.allgather(solver._archipelago.digests())
        digests.append([digest for rank in found for digest in rank])
        assert solver.best()[0].cost == min(candidate.cost for candidate in solver.best(5))
    assert digests[0] == digests[1]
