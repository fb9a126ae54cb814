"""Several orders that have all items together, and orders with pairs of items in sequence."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import islands
from islands.backends.base import Backend
from islands.modelling.model import Model, restored
from islands.problems.corrections import Precedence

SETUP = np.random.default_rng(6).integers(1, 60, (7, 7))
"""The time of a job after another one; the diagonal has that of a first job."""
LONGEST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long longest = 0, time = 0;
    int last = -1;
    for (int i = 0; i < n; ++i) {
        if (s[i] >= data.items) {  // the next machine
            time = 0, last = -1;
            continue;
        }
        time += data.setup[(last < 0 ? s[i] : last) * data.items + s[i]];
        longest = max(longest, time);
        last = s[i];
    }
    return longest;
}"""


def length(job_lists: list[list[int]]) -> int:
    return max(
        sum(int(SETUP[jobs[max(0, k - 1)], job]) for k, job in enumerate(jobs))
        for jobs in job_lists
    )


def machines(n: int, parts: int, **more: Any) -> Model:
    setup = np.ascontiguousarray(SETUP[:n, :n])
    return islands.permutation(n, parts=parts, cost=LONGEST, data={"setup": setup}, **more)


def best_of_all(n: int, parts: int, pairs: Any = ()) -> int:
    found = []
    for order in permutations(range(n + parts - 1)):
        place = {item: k for k, item in enumerate(order)}
        if all(place[a] < place[b] for a, b in pairs):
            text = " ".join("|" if item >= n else str(item) for item in order)
            found.append(length([list(map(int, each.split())) for each in text.split("|")]))
    return min(found)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "parts"), [(5, 2), (5, 1), (5, 3)])
def test_the_default_finds_the_best_parts(backend: Backend, n: int, parts: int) -> None:
    own = machines(n, parts)
    islands.check_problem(own, samples=50)
    result = islands.solve(own, backend=backend.name, generations=40, seed=1)
    jobs = [each.tolist() for each in own.parts_of(result.solution)]
    assert len(jobs) == parts
    assert sorted(job for each in jobs for job in each) == list(range(n))
    assert result.cost == length(jobs) == best_of_all(n, parts)
    again = islands.solve(restored(own.saved()), backend=backend.name, generations=40, seed=1)
    assert again.digest == result.digest


@pytest.mark.slow
def test_parts_keep_items_in_sequence(backend: Backend) -> None:
    pairs = [(4, 0), (0, 2)]
    result = islands.solve(machines(5, 2, before=pairs), backend=backend.name, generations=40)
    assert result.cost == best_of_all(5, 2, pairs)


N = 12
WAY = np.random.default_rng(1).integers(0, 100, (N, N))
PAIRS = [(3, 1), (1, 0), (5, 2), (7, 3), (11, 10), (10, 9)]
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i + 1 < n; ++i) sum += data.way[s[i] * n + s[i + 1]];
    return sum;
}"""
LAST = """
__device__ long long violation(const Solution& s, int n, const Data& data) {
    return s[0] % 2;
}"""
SWAPPED = """
__device__ void repair(Changing& s, int n, const Data& data) {
    const int first = s[0], last = s[n - 1];
    if (first > last) s.set(0, last), s.set(n - 1, first);
}"""


def ways(orders: Any, way: Any = WAY) -> Any:
    return way[orders[:, :-1], orders[:, 1:]].sum(axis=1)


def stated(by: str = "cost", n: int = N, pairs: Any = PAIRS, **more: Any) -> Model:
    way = np.ascontiguousarray(WAY[:n, :n])
    own: dict[str, Any] = {"cost": COST, "data": {"way": way}}
    if by == "batch":
        own = {"batch": lambda orders: ways(orders, way)}
    elif by == "function":
        own = {"function": lambda order: int(ways(order[None], way)[0])}
    return islands.permutation(n, before=pairs, **own | more)


def keeps(order: Any, pairs: Any = PAIRS) -> bool:
    places = {item: place for place, item in enumerate(np.asarray(order).tolist())}
    return all(places[one] < places[other] for one, other in pairs)


def placed(order: list[int], pairs: Any) -> list[int]:
    """Return the order that a serial schedule makes: always the first item that is available."""
    left, found = list(order), []
    while left:
        item = next(x for x in left if not any(b == x and a in left for a, b in pairs))
        left.remove(item)
        found.append(item)
    return found


def test_items_are_placed_as_soon_as_they_are_available() -> None:
    random = np.random.default_rng(2)
    for _ in range(30):
        n = int(random.integers(1, 15))
        ranks = random.permutation(n).tolist()
        pairs = random.integers(0, n, (int(random.integers(0, 25)), 2)).tolist()
        pairs = [(a, b) for a, b in pairs if ranks[a] < ranks[b]]
        orders = np.argsort(random.random((20, n)), axis=1)
        rule = Precedence(n, pairs)
        found = rule.kept(orders)
        expected = [placed(order, pairs) for order in orders.tolist()]
        assert found.tolist() == expected
        assert rule.are_kept(orders).tolist() == [keeps(order, pairs) for order in orders]
        assert rule.cycle() == []


@pytest.mark.slow
def test_the_default_finds_the_best_order(backend: Backend) -> None:
    n, pairs = 8, [(3, 1), (1, 0), (5, 2), (7, 3)]
    orders = np.array([order for order in permutations(range(n)) if keeps(order, pairs)])
    own = stated(n=n, pairs=pairs)
    islands.check_problem(own, samples=50)
    result = islands.solve(own, backend=backend.name, generations=60, seed=1)
    assert result.algorithm == "tempering"
    assert result.cost == ways(orders, WAY[:n, :n]).min()
    again = islands.solve(restored(own.saved()), backend=backend.name, generations=60, seed=1)
    assert again.digest == result.digest


@pytest.mark.slow
def test_a_violation_and_a_repair_see_items_in_sequence(backend: Backend) -> None:
    options: Any = {"backend": backend.name, "generations": 40, "seed": 1}
    ruled = islands.solve(stated(violation=LAST), **options)
    assert keeps(ruled.solution)
    assert ruled.violation == 0 == ruled.solution[0] % 2
    assert keeps(islands.solve(stated(repair=SWAPPED), **options).solution)
