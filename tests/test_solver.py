from typing import Any

import numpy as np
import pytest
from colonies_for_tests import decide
from problems_for_tests import cities

from islands import IslandsError, Solver, solve
from islands.backends.base import Backend
from islands.parallel import World
from islands.testing.ranks import on_ranks


def test_single_steps_give_the_same_result_as_solve() -> None:
    settings = {"islands": 3, "population": 40, "seed": 4, "interval": 5, "backend": "cpu"}
    problem = cities(60)
    solver = Solver(problem, **settings)
    for _ in range(4):
        solver.evolve(5)
        solver.exchange()
    whole = solve(problem, stop="generations=20", **settings)
    (best,) = solver.best()
    assert (best.cost, solver.generation) == (whole.cost, 20)
    assert best.solution.tolist() == whole.solution.tolist()


def test_the_best_of_all_islands_come_first() -> None:
    problem = cities(25)
    solver = Solver(problem, algorithm="brkga", islands=2, population=30, backend="cpu")
    solver.evolve()
    best = solver.best(60)
    assert [each.cost for each in best] == sorted(each.cost for each in best)
    assert {each.island for each in best} == {0, 1}
    for each in best:
        assert np.argsort(each.genome, kind="stable").tolist() == each.solution.tolist()
        assert problem.cost(each.solution) == each.cost
    assert len(solver.best(1000)) == 60


def state(solver: Solver) -> list[tuple[int, str]]:
    return solver._archipelago.digests()


def test_injected_solutions_replace_the_worst_of_the_islands_in_turn() -> None:
    problem = cities(15)
    solver = Solver(problem, algorithm="ga", islands=3, population=8, backend="cpu")
    tours = [np.roll(np.arange(15), k).tolist() for k in range(4)]
    cost = problem.cost(np.array(tours[0]))

    def costs() -> list[list[int]]:
        return np.sort(solver._archipelago.snapshot()["cost"]).tolist()

    before = costs()
    solver.inject(tours)
    kept = [before[0][:-2], before[1][:-1], before[2][:-1]]
    assert costs() == [sorted([*k, *[cost] * n]) for k, n in zip(kept, (2, 1, 1), strict=True)]
    solver.reset()
    for tour in tours[:2]:
        solver.inject([tour])
    kept = [before[0][:-1], before[1][:-1], before[2]]
    assert costs() == [sorted([*k, *[cost] * n]) for k, n in zip(kept, (1, 1, 0), strict=True)]
    solver.inject([])
    solver.inject(np.array(tours[:1]))
    assert costs()[2] == sorted([*before[2][:-1], cost])


def test_populations_are_views_of_the_genomes(backend: Backend) -> None:
    name = "cpu" if backend.in_host_memory else "cuda"
    solver = Solver("demo/tsp", islands=3, population=20, backend=name, encoding="keys")
    solver.evolve(3)
    populations = solver.populations()
    assert [each.shape for each in populations] == [(20, 120)] * 3
    saved = solver._archipelago.snapshot()["genes"][:, :, :120]
    assert (np.array([backend.read(each) for each in populations]) == saved).all()
    if backend.in_host_memory:
        assert all(each.base is not None for each in populations)
        assert np.shares_memory(populations[1], solver.populations()[1])


def joined(ranks: World, items: list[Any]) -> list[Any]:
    return [item for each in ranks.allgather(items) for item in each]


@pytest.mark.parametrize("is_shared", [True, False])
def test_all_calls_agree_on_several_ranks(is_shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    decide(monkeypatch, shared=is_shared)
    settings = {"islands": 3, "population": 16, "backend": "cpu", "threads": 1, "seed": 2}
    settings |= {"algorithm": "ga", "improver": "none"}
    tours = [np.roll(np.arange(120), k) for k in range(4)]

    def work(world: World) -> tuple[Any, ...]:
        solver = Solver("demo/tsp", world=world, **settings)
        solver.evolve(2)
        solver.exchange()
        solver.inject(tours)
        solver.evolve(6)
        first = joined(world, state(solver))
        # Each island is that of one rank.
        populations = joined(world, [each.tolist() for each in solver.populations()])
        solver.reset()
        solver.evolve(1)
        with pytest.raises(IslandsError, match=r"^solutions\[0\]: has the shape \(2,\)"):
            solver.inject([[0, 1]])
        best = [(each.cost, each.island) for each in solver.best(4)]
        return first, populations, joined(world, state(solver)), best

    (alone,) = on_ranks(1, work)
    for size in (2, 5):
        assert on_ranks(size, work) == [alone] * size
    assert len(alone[1]) == 3


def test_the_trace_has_the_costs_of_the_populations() -> None:
    settings: dict[str, Any] = {"algorithm": "ga", "encoding": "permutation", "improver": "none"}
    settings |= {"islands": 2, "population": 24, "migration": "none", "backend": "cpu", "seed": 3}
    trace = solve("demo/tsp", generations=3, record={"every": 1}, **settings).trace().to_pydict()
    solver = Solver("demo/tsp", **settings)
    solver.evolve(3)
    for island, genomes in enumerate(solver.populations()):
        orders = np.asarray(genomes)[:, : solver.problem.size]
        costs = [solver.problem.cost(order) for order in orders]
        row = list(zip(trace["generation"], trace["island"], strict=True)).index((3, island))
        found = [trace[name][row] for name in ("best", "mean", "worst")]
        assert found == [min(costs), pytest.approx(np.mean(costs), rel=1e-12), max(costs)]
