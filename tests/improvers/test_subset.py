"""Local search on subsets on all devices compared with plain Python with full evaluations."""

from itertools import combinations, product

import numpy as np
import pytest
from numpy_subset import (
    INFEASIBLE,
    NumpyKnapsack,
    NumpyLocal,
    assert_same,
    feasible,
    improved,
    source_of,
    ways,
)
from programs_for_tests import for_gpu, require_machine_code

from islands.backends import choose
from islands.backends.base import Backend, Block
from islands.improvers import ImproverSettings, improvers_for

MOST = {"flip": 1, "exchange": 2, "exchange21": 3, "exchange22": 4}
STRATEGIES = ("first", "best")


@pytest.mark.parametrize(
    ("name", "strategy", "threads"),
    [(name, strategy, 32) for name in MOST for strategy in STRATEGIES]
    + [("exchange22", "best", 128)],
)
def test_all_searches_equal_numpy(backend: Backend, name: str, strategy: str, threads: int) -> None:
    best = strategy == "best"
    for n, core, steps in product((14, 33), (0, 8), (0, 1, 2)):
        if core == 0 and n > 20 and MOST[name] > 2:
            continue
        problem = ways(n, 3, seed=core + steps)
        search = NumpyLocal(NumpyKnapsack(problem), core, steps, MOST[name], best)
        settings = {"name": name, "strategy": strategy, "core": core, "steps": steps}
        assert_same(backend, problem, search, threads, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_ties_of_profit_are_broken_by_item_number(backend: Backend, strategy: str) -> None:
    for seed in range(4):
        problem = ways(12, 3, largest=6, seed=seed)
        search = NumpyLocal(NumpyKnapsack(problem), most=4, best=strategy == "best")
        assert_same(backend, problem, search, name="exchange22", strategy=strategy)


@pytest.mark.parametrize("name", MOST)
def test_subsets_of_up_to_four_items_equal_the_reference(backend: Backend, name: str) -> None:
    for n, strategy in product((1, 2, 3, 4), STRATEGIES):
        problem = ways(n, 3)
        search = NumpyLocal(NumpyKnapsack(problem), most=MOST[name], best=strategy == "best")
        assert_same(backend, problem, search, name=name, strategy=strategy)


@pytest.mark.parametrize(("way", "largest"), [("linear", 1000), ("dynamic", 1 << 40)])
def test_infeasible_subsets_stay_and_are_marked(backend: Backend, way: str, largest: int) -> None:
    problem = ways(12, 3, way, largest=largest)
    search = NumpyLocal(NumpyKnapsack(problem), most=4)
    assert_same(backend, problem, search, name="exchange22")
    all_items = [[1] * problem.size]
    seen, costs, calls = improved(backend, problem, all_items, name="exchange22")
    assert (seen, calls) == (all_items, [0])
    assert costs == [INFEASIBLE]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("core", [0, 20])
def test_no_improving_exchange_remains(backend: Backend, core: int, strategy: str) -> None:
    """Try all exchanges in the core by brute force, independently of the reference."""
    problem = ways(40, 3)
    device = NumpyKnapsack(problem)
    choices = feasible(problem, 4)
    seen, costs, _ = improved(
        backend, problem, choices, name="exchange22", core=core, strategy=strategy
    )
    for start, end, cost in zip(choices, seen, costs, strict=True):
        chosen = np.array(end)
        slack = device.capacities - device.weights @ chosen
        assert (slack >= 0).all()
        assert cost == -int(device.profits @ chosen)
        size = core or problem.size
        first = min(max(sum(start) - size // 2, 0), problem.size - size)
        items = range(first, first + size)
        assert [i for i in range(problem.size) if start[i] != end[i] and i not in items] == []
        leaving = sets([i for i in items if chosen[i]])
        entering = sets([i for i in items if not chosen[i]])
        freed = np.stack([device.weights[:, list(s)].sum(axis=1) for s in leaving])
        taken = np.stack([device.weights[:, list(s)].sum(axis=1) for s in entering])
        lost = np.array([device.profits[list(s)].sum() for s in leaving])
        won = np.array([device.profits[list(s)].sum() for s in entering])
        fits = (taken[np.newaxis] <= slack + freed[:, np.newaxis]).all(axis=2)
        assert not (fits & (won[np.newaxis] > lost[:, np.newaxis])).any()


def sets(items: list[int]) -> list[tuple[int, ...]]:
    return [(), *((item,) for item in items), *combinations(items, 2)]


@pytest.mark.parametrize(("n", "m", "core"), [(100, 3, 0), (500, 30, 60)])
def test_devices_agree_on_large_subsets(backend: Backend, n: int, m: int, core: int) -> None:
    """Rows need many rounds, and lists are longer than blocks."""
    problem = ways(n, m)
    choices = feasible(problem, 8)[-3:]
    before = [NumpyKnapsack(problem).cost(choice) for choice in choices]
    for strategy in STRATEGIES:
        search = {"name": "exchange22", "core": core, "strategy": strategy}
        found = improved(choose("cpu", 1), problem, choices, **search)
        assert improved(backend, problem, choices, 64, **search) == found
        assert all(cost < other for cost, other in zip(found[1], before, strict=True))


@pytest.mark.gpu
@pytest.mark.parametrize("name", [*MOST, "tabu"])
def test_each_search_compiles_for_gpus(name: str) -> None:
    problem = ways(100, 5)
    settings = ImproverSettings.build({"name": name})
    improver = improvers_for("subset")[name](settings, problem.size)
    source = source_of(problem, improver)
    for block in (Block(32, 32), Block(1024, 1)):
        require_machine_code(for_gpu(source.entry, source.defines, block), optimised=True)
