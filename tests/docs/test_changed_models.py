"""The examples of changed models find the best of all solutions of their problems."""

from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from pages import ROOT, blocks

import islands
from islands.backends.base import Backend

pytestmark = pytest.mark.slow

PAGES = (ROOT / "docs" / "changed-models.md", ROOT / "docs" / "changed-subsets.md")
CODE = [each.text for page in PAGES for each in blocks(page) if each.language == "python"]


def ran(word: str) -> dict[str, Any]:
    """Return the names that the only block with a word defines."""
    (text,) = [each for each in CODE if word in each]
    names: dict[str, Any] = {}
    exec(compile(text, "changed-models", "exec"), names)
    return names


def require_best(names: dict[str, Any], best: int, backend: Backend) -> None:
    """Require the best cost of the example and of a run on a backend, and costs of moves."""
    problem = names["problem"]
    assert names["result"].cost == best
    again = islands.solve(problem, generations=100, seed=2, backend=backend.name)
    assert again.cost == best
    if backend.name == "cpu":
        islands.check_problem(problem, samples=60)


def test_setup_times_of_a_flow_shop(backend: Backend) -> None:
    names = ran("models.FlowShop")
    times, setups = names["times"], names["setups"]

    def end(order: tuple[int, ...]) -> int:
        free, before = [0] * 3, None
        for job in order:
            ready = 0
            for k in range(3):
                prepared = free[k] + (0 if before is None else int(setups[before, job, k]))
                ready = free[k] = max(ready, prepared) + int(times[job, k])
            before = job
        return free[-1]

    require_best(names, min(map(end, permutations(range(7)))), backend)


def orders_of_jobs() -> list[tuple[int, ...]]:
    """Return all sequences in which each of three jobs occurs three times."""
    return [each for each in product(range(3), repeat=9) if {*map(each.count, range(3))} == {3}]


def test_setup_times_of_a_job_shop(backend: Backend) -> None:
    names = ran("models.JobShop")
    machines, times, setups = (names[each] for each in ("machines", "times", "setups"))

    def end(jobs: tuple[int, ...]) -> int:
        job, free, done = [0] * 3, [0] * 3, [0] * 3
        at: list[int | None] = [None] * 3
        for j in jobs:
            k, time = machines[j][done[j]], times[j][done[j]]
            other = at[k]
            prepared = free[k] + (0 if other is None else int(setups[other, j]))
            job[j] = free[k] = max(job[j], prepared) + time
            done[j], at[k] = done[j] + 1, j
        return max(job)

    require_best(names, min(map(end, orders_of_jobs())), backend)


def test_forbidden_pairs_of_a_covering(backend: Backend) -> None:
    names = ran("models.SetCover")
    costs, rows, partner = (names[each] for each in ("costs", "rows", "partner"))

    def total(chosen: tuple[int, ...]) -> float:
        own = {j for j in range(12) if chosen[j]}
        is_cover = all(own & {*row} for row in rows)
        return sum(costs[j] for j in own) if is_cover and not own & {*partner[[*own]]} else np.inf

    best = min(map(total, product((0, 1), repeat=12)))
    without = islands.solve(islands.models.set_cover(costs, rows), generations=50, seed=1)
    assert without.cost < best  # so that the pairs matter
    require_best(names, int(best), backend)


def test_sides_of_equal_size(backend: Backend) -> None:
    names = ran("models.MaxCut")
    edges = names["edges"]
    weights = np.random.default_rng(1)
    for _ in range(45):
        weights.random()
    each = weights.integers(1, 9, len(edges))

    def cut(chosen: tuple[int, ...]) -> int:
        return sum(
            int(w) for (a, b), w in zip(edges, each, strict=True) if (a in chosen) != (b in chosen)
        )

    require_best(names, max(map(cut, combinations(range(10), 5))), backend)


def test_a_number_of_items_of_a_quadratic_problem() -> None:
    names = ran("islands.qubo")
    q, k = names["q"], names["k"]
    best = min(int(q[np.ix_(each, each)].sum()) for each in combinations(range(10), k))
    found = names["result"]
    assert found.solution.sum() == k
    assert found.cost + names["price"] * k**2 == best


def test_fixed_colours() -> None:
    names = ran("models.graph_colouring")
    chosen = names["chosen"]
    assert names["result"].cost == 0
    assert all(chosen[i] == colour for i, colour in names["fixed"].items())
    assert all(chosen[a] != chosen[b] for a, b in names["edges"] if max(a, b) < 8)


def test_items_that_must_not_share_a_bin(backend: Backend) -> None:
    names = ran("models.BinPacking")
    sizes, apart = names["sizes"], names["apart"]

    def fits(bins: tuple[int, ...]) -> bool:
        return all(
            sum(s for s, own in zip(sizes, bins, strict=True) if own == b) <= 10 for b in range(4)
        ) and not any(apart[i, j] and bins[i] == bins[j] for i in range(7) for j in range(i))

    best = min(len({*each}) for each in product(range(4), repeat=7) if fits(each))
    plain = islands.solve(islands.models.bin_packing(sizes, 10), generations=100, seed=1)
    assert plain.cost < best
    require_best(names, best, backend)


def test_capacities_of_places(backend: Backend) -> None:
    names = ran("models.PMedian")
    distances, demand = names["distances"], names["demand"]

    def total(chosen: tuple[int, ...]) -> int:
        room, sum_of = dict.fromkeys(chosen, 16), 0
        for i in range(10):
            near = [j for j in chosen if room[j] >= demand[i]]
            place = min(near, key=lambda j: distances[i, j]) if near else None
            sum_of += int(distances.max()) + 1 if place is None else int(distances[i, place])
            if place is not None:
                room[place] -= demand[i]
        return sum_of

    best = min(map(total, combinations(range(10), 4)))
    free = islands.solve(islands.models.p_median(distances, 4), generations=50, seed=1)
    assert free.cost < best
    require_best(names, best, backend)


def test_a_required_item() -> None:
    names = ran("models.max_diversity")
    distances, required = names["distances"], names["required"]
    best = max(
        sum(int(distances[i, j]) for i, j in combinations(each, 2))
        for each in combinations(range(10), 4)
        if required in each
    )
    found = names["result"]
    assert found.cost - 3 * names["bonus"] == best
    assert found.solution[required]
