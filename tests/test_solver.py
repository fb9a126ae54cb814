from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from problems_for_tests import cities, flat

from islands import IslandsError, Solver, solve


def test_single_steps_give_the_same_result_as_solve(tmp_path: Path) -> None:
    settings = {"islands": 3, "population": 40, "seed": 4, "interval": 5, "backend": "cpu"}
    problem = cities(60, tmp_path)
    solver = Solver(problem, **settings)
    for _ in range(4):
        solver.evolve(5)
        solver.exchange()
    whole = solve(problem, stop="generations=20", **settings)
    (best,) = solver.best()
    assert (best.cost, solver.generation) == (whole.cost, 20)
    assert best.solution.tolist() == whole.solution.tolist()


def test_the_best_of_all_islands_come_first(tmp_path: Path) -> None:
    problem = cities(25, tmp_path)
    solver = Solver(problem, islands=2, population=30, backend="cpu")
    solver.evolve()
    best = solver.best(60)
    assert [each.cost for each in best] == sorted(each.cost for each in best)
    assert {each.island for each in best} == {0, 1}
    for each in best:
        assert np.argsort(each.genome, kind="stable").tolist() == each.solution.tolist()
        assert problem.cost(each.solution) == each.cost
    assert len(solver.best(1000)) == 60


def test_among_equals_the_lowest_island_comes_first() -> None:
    settings = {"algorithm": "de", "improver": "none", "islands": 3, "population": 8}
    solver = Solver(flat(9, 720), backend="cpu", **settings)
    found = solver.best(20)
    assert [(each.cost, each.island) for each in found] == [(720, k // 8) for k in range(20)]


def test_settings_are_checked(tmp_path: Path) -> None:
    with pytest.raises(IslandsError, match=r"rho=2: must be from 0\.5 to 1"):
        Solver(cities(9, tmp_path), rho=2)
    solver = Solver(cities(9, tmp_path), population=20, backend="cpu")
    with pytest.raises(IslandsError, match="generations=-1: must be at least 0"):
        solver.evolve(-1)
    with pytest.raises(IslandsError, match="count=0: must be at least 1"):
        solver.best(0)


def test_restarts_keep_the_best(tmp_path: Path) -> None:
    problem = cities(40, tmp_path)
    solver = Solver(problem, population=20, islands=2, reset=3, migration="none", backend="cpu")
    best = solver.best()[0].cost
    for _ in range(40):
        solver.evolve()
        now = solver.best()[0].cost
        assert now <= best
        best = now
    assert solver._archipelago.snapshot()["island"][:, 4].sum() > 0, "no island restarted"
    assert best == min(measure.best for measure in solver._archipelago.measure())
