"""One of some values for each item: every way to state the cost finds proven optima."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from models_for_tests import sum_text
from numpy.typing import NDArray

import islands
from islands.backends.base import Backend
from islands.errors import RunError, UsageError
from islands.modelling.model import Model, restored
from islands.problems.solution_kinds import array_module
from islands.testing.devices import emulated_gpu

RANDOM = np.random.default_rng(8)
WAY = RANDOM.integers(1, 60, (5, 40)).astype(np.int32)
"""What it costs that an item has a value."""
OPENING = np.array([40, 90, 60, 20, 70], np.int32)
"""What it costs that a value is used."""
COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    unsigned used = 0;
    for (int i = 0; i < n; ++i) {
        sum += data.way[s[i] * data.stride + i];
        if (!(used >> s[i] & 1)) sum += data.opening[s[i]];
        used |= 1u << s[i];
    }
    return sum;
}"""
STATE = """
struct State {
    int* items;  // of each value
    __device__ State(Memory& memory, int, const Data&) : items(memory.take<int>(5)) {}
};
__device__ void prepare(State& state, const Solution& s, int n, const Data&) {
    for (int k = 0; k < 5; ++k) state.items[k] = 0;
    for (int i = 0; i < n; ++i) ++state.items[s[i]];
}
__device__ long long change(const State& state, const Solution& s, int, const Data& data,
                            Set move) {
    const int from = s[move.item], to = move.value, *way = data.way + move.item;
    const long long closes = state.items[from] == 1 ? data.opening[from] : 0;
    const long long opens = state.items[to] == 0 ? data.opening[to] : 0;
    return way[to * data.stride] - way[from * data.stride] + opens - closes;
}
__device__ void apply(State& state, const Solution& s, int, const Data&, Set move) {
    --state.items[s[move.item]], ++state.items[move.value];
}
__device__ long long change(const State&, const Solution& s, int, const Data& data, Swap move) {
    const int u = move.u, v = move.v, stride = data.stride, *way = data.way;
    return way[s[v] * stride + u] + way[s[u] * stride + v] - way[s[u] * stride + u] -
           way[s[v] * stride + v];
}
__device__ void apply(State&, const Solution&, int, const Data&, Swap) {}
"""
DELTA = """
__device__ long long delta(const Solution& s, int n, const Data& data, Set move) {
    const int from = s[move.item], to = move.value, *way = data.way + move.item;
    long long closes = data.opening[from], opens = data.opening[to];
    for (int i = 0; i < n; ++i) {
        if (i != move.item && s[i] == from) closes = 0;
        if (s[i] == to) opens = 0;
    }
    return way[to * data.stride] - way[from * data.stride] + opens - closes;
}"""
DATA = {"way": WAY, "opening": OPENING, "stride": 40}


def batch(rows: NDArray[Any]) -> NDArray[np.int64]:
    xp = array_module(rows)
    items = xp.arange(rows.shape[1])
    used = (rows[:, :, np.newaxis] == xp.arange(5)).any(axis=1)
    found = xp.asarray(WAY)[rows, items].sum(axis=1) + used @ xp.asarray(OPENING)
    return cast("NDArray[np.int64]", found)


WAYS: dict[str, dict[str, Any]] = {
    "cost": {"cost": COST, "data": DATA},
    "batch": {"batch": batch},
    "function": {"function": lambda s: int(batch(s[np.newaxis])[0])},
    "state": {"cost": COST, "data": DATA, "state": STATE},
    "delta": {"cost": COST, "data": DATA, "delta": DELTA},
}


def least(sizes: Sequence[int]) -> int:
    return int(batch(np.array(list(product(*map(range, sizes))))).min())


@pytest.mark.parametrize("sizes", [3, [5, 1, 2, 3, 4, 5]], ids=["same", "different"])
@pytest.mark.parametrize("way", WAYS)
def test_the_best_choice_is_found(backend: Backend, way: str, sizes: Any) -> None:
    own = islands.choices(6, sizes, **WAYS[way])
    result = islands.solve(own, backend=backend.name, generations=40, seed=1)
    assert result.algorithm == "tempering"
    assert result.cost == least([sizes] * 6 if isinstance(sizes, int) else sizes)
    assert own.kind.holds(np.asarray(result.solution)[np.newaxis])


@pytest.mark.parametrize("sizes", [5, [5, 2] * 5], ids=["same", "different"])
def test_all_ways_to_state_the_cost_have_the_same_run(backend: Backend, sizes: Any) -> None:
    options: Any = {"backend": backend.name, "generations": 12, "islands": 2, "population": 4}
    options |= {"algorithm": "tempering", "tuning": 4, "cycle": 3, "patience": 2}
    options["proposals"] = 50  # the default depends on the way
    found = {
        islands.solve(islands.choices(10, sizes, **WAYS[way]), **options).digest
        for way in ("cost", "batch", "function")
    }
    assert len(found) == 1


@pytest.mark.slow
@pytest.mark.parametrize("way", ["state", "delta", "cost"])
def test_any_number_of_threads_has_the_same_run(way: str) -> None:
    own = islands.choices(40, 5, **WAYS[way])
    options: Any = {"generations": 6, "islands": 2, "population": 4, "proposals": 300}
    options |= {"algorithm": "tempering", "tuning": 3, "cycle": 3, "patience": 2}
    digest = islands.solve(own, backend="cpu", **options).digest
    for threads in (32, 64):
        with emulated_gpu(threads):
            assert islands.solve(own, **options).digest == digest


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["ga", "cellular"])
def test_populations_find_the_best_choice(backend: Backend, algorithm: str) -> None:
    sizes = [5, 1, 2, 3, 4, 5]
    options: Any = {"islands": 2, "population": 64, "generations": 60, "backend": backend.name}
    for way in ("cost", "batch"):
        own = islands.choices(6, sizes, **WAYS[way])
        for mutation in ("reset", "swap"):
            result = islands.solve(own, algorithm=algorithm, mutation=mutation, **options)
            assert own.kind.holds(np.asarray(result.solution)[np.newaxis])
            assert mutation == "swap" or result.cost == least(sizes)


def test_a_stored_run_goes_on(tmp_path: Path) -> None:
    own = islands.choices(40, [5, 4] * 20, groups=[0, 1] * 20, **WAYS["state"])
    again = restored(own.saved())
    assert again.kind.options == own.kind.options
    options: Any = {"backend": "cpu", "seed": 4, "islands": 2, "population": 2}
    whole = islands.solve(again, generations=20, **options)
    islands.solve(own, generations=10, out=tmp_path / "run", **options)
    assert islands.resume(tmp_path / "run", generations=20).digest == whole.digest


@pytest.mark.slow
@pytest.mark.parametrize("way", ["state", "delta"])
def test_changes_of_the_cost_are_checked(way: str) -> None:
    assert islands.check_problem(islands.choices(40, [5, 1] * 20, **WAYS[way]), samples=40).works
    wrong = {name: text for name, text in WAYS[way].items() if name != way}
    wrong[way] = WAYS[way][way].replace("+ opens", "+ 2 * opens")
    with pytest.raises(RunError, match="setting"):
        islands.check_problem(islands.choices(40, 5, **wrong), samples=40)


INSIDE = """
struct State { __device__ State(Memory&, int, const Data&) {} };
__device__ void prepare(State&, const Solution&, int, const Data&) {}
__device__ long long change(const State&, const Solution& s, int, const Data&, Swap move) {
    if (move.u % 3 != move.v % 3) return -1000000;  // no such exchange is expected
    return (s[move.v] - s[move.u]) * (move.u - move.v);
}
__device__ void apply(State&, const Solution&, int, const Data&, Swap) {}
"""


def test_only_items_of_a_group_are_exchanged() -> None:
    def grouped(groups: Any) -> Model:
        return islands.choices(30, 7, groups=groups, cost=sum_text("i * s[i]"), state=INSIDE)

    options: Any = {"backend": "cpu", "generations": 20, "islands": 2, "population": 2}
    own = grouped(np.arange(30) % 3)
    assert islands.check_problem(own, samples=30).works
    result = islands.solve(own, **options)
    for group in range(3):  # the first items have the largest values
        values = np.asarray(result.solution)[group::3]
        assert values.tolist() == sorted(values, reverse=True)
    with pytest.raises(RunError):
        islands.solve(grouped(None), **options)


@pytest.mark.slow
@pytest.mark.parametrize("most", [2, [1, 3, 2], [2, 3, 2]], ids=["exact", "each", "loose"])
@pytest.mark.parametrize("way", WAYS)
def test_values_have_at_most_so_many_items(backend: Backend, way: str, most: Any) -> None:
    if way == "delta" and most != [2, 3, 2]:
        pytest.skip("all values are full, but its delta is that of a Set")
    own = islands.choices(6, 3, at_most=most, **WAYS[way])
    every = np.array(list(product(range(3), repeat=6)))
    limits = np.broadcast_to(most, 3)
    counts = (every[:, :, np.newaxis] == np.arange(3)).sum(axis=1)
    expected = batch(every[(counts <= limits).all(axis=1)]).min()
    for algorithm, population in (("tempering", 2), ("ga", 32)):
        sizes: Any = {"islands": 2, "population": population, "generations": 40}
        result = islands.solve(own, algorithm=algorithm, backend=backend.name, seed=1, **sizes)
        assert result.cost == expected, algorithm
        assert own.kind.holds(np.asarray(result.solution)[np.newaxis])
    assert islands.check_problem(own, samples=30).works
    if way == "cost":
        assert restored(own.saved()).kind.options == own.kind.options


def test_limits_are_kept_as_by_kernels() -> None:
    own = islands.choices(12, 4, at_most=[3, 2, 6, 3], **WAYS["batch"])
    floats = np.array([0.0] * 3 + [1.0] * 2 + [2.0] * 6 + [3.0])
    assert own.cost(floats) == own.cost(floats.astype(int))
    again = islands.choices(12, 4, at_most=[3, 2, 6, 3], **WAYS["cost"])
    options: Any = {"algorithm": "tempering", "backend": "cpu", "generations": 10, "islands": 2}
    options |= {"population": 4, "tuning": 3, "cycle": 3, "patience": 2}
    assert islands.solve(own, **options).digest == islands.solve(again, **options).digest
    assert own.kind.holds(own.kind.drawn(200, 3))


def test_one_item_is_chosen_by_moves() -> None:
    own = islands.choices(1, 1000, cost=sum_text("(s[i] - 700) * (s[i] - 700)"))
    result = islands.solve(own, backend="cpu", generations=30, islands=1, population=2)
    assert np.asarray(result.solution).tolist() == [700]


def test_a_repair_may_set_valid_values_only() -> None:
    repair = "__device__ void repair(Changing& s, int n, const Data&) { s.set(0, %d); }"
    cost = sum_text("s[i]")
    kept = islands.choices(5, [3, 2, 2, 2, 2], cost=cost, repair=repair % 2)
    result = islands.solve(kept, backend="cpu", generations=10)
    assert np.asarray(result.solution).tolist() == [2, 0, 0, 0, 0]
    with pytest.raises(RunError, match="repair"):
        islands.solve(
            islands.choices(5, 2, cost=cost, repair=repair % 2), backend="cpu", generations=2
        )


def test_real_costs_have_states() -> None:
    text = """
__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += sqrt(double(data.way[s[i] * data.stride + i]));
    return sum;
}
__device__ double by(const Data& data, int item, int from, int to) {
    return sqrt(double(data.way[to * data.stride + item])) -
           sqrt(double(data.way[from * data.stride + item]));
}"""
    state = """
struct State { __device__ State(Memory&, int, const Data&) {} };
__device__ void prepare(State&, const Solution&, int, const Data&) {}
__device__ double change(const State&, const Solution& s, int, const Data& data, Set move) {
    return by(data, move.item, s[move.item], move.value);
}
__device__ void apply(State&, const Solution&, int, const Data&, Set) {}"""
    own = islands.choices(40, 5, cost=text, state=state, data=DATA)
    result = islands.solve(own, backend="cpu", generations=40, seed=1)
    assert result.cost == pytest.approx(np.sqrt(WAY.min(axis=0)).sum())


def test_problems_with_other_values_groups_or_limits_are_solved_as_alone() -> None:
    others: list[dict[str, Any]] = [{"k": 3}, {"k": 5}, {"k": 5, "at_most": 2}]
    others += [{"k": 5, "groups": [0, 0, 0, 0, 1, 1, 1, 1]}]
    problems = [islands.choices(8, **each, cost=COST, data=DATA) for each in others]
    asked: dict[str, Any] = {"generations": 8, "backend": "cpu", "threads": 1}
    alone = [islands.solve(each, **asked).digest for each in problems]
    assert [each.digest for each in islands.solve_many(problems, **asked)] == alone


def test_limits_that_fill_all_values_leave_exchanges() -> None:
    with pytest.raises(UsageError, match="delta: has no parameter of the type Swap"):
        islands.choices(6, 3, at_most=2, cost=COST, delta=DELTA, data=DATA)


def naively_within(choices: list[int], most: list[int]) -> list[int]:
    """Return choices within limits, where each question about them counts all of them again."""
    mixed = 0x9E3779B9
    for value in choices:
        mixed = ((mixed ^ value) * 0x915F77F5) % 2**32
        mixed ^= mixed >> 15
    n, found = len(choices), list(choices)
    order = [(mixed * n // 2**32 + k) % n for k in range(n)]
    for place, item in enumerate(order):
        if [found[each] for each in order[:place]].count(found[item]) >= most[found[item]]:
            mixed = (mixed * 0x915F77F5 + 0x9E3779B9) % 2**32
            first = mixed * len(most) // 2**32
            values = [(first + k) % len(most) for k in range(len(most))]
            found[item] = next(each for each in values if found.count(each) < most[each])
    return found


def test_limits_are_kept_as_by_counting_again() -> None:
    random = np.random.default_rng(2)
    for n, k in ((2, 2), (7, 3), (40, 12)):
        most = random.integers(1, 1 + n // k, k)
        most[0] += max(0, n - most.sum())
        kind = islands.choices(n, k, at_most=most, function=sum).kind
        chosen = random.integers(0, k, (60, n)) ** 2 // k
        expected = [naively_within(row, most.tolist()) for row in chosen.tolist()]
        assert kind.corrected(chosen).tolist() == expected
        valid = [all(row.count(v) <= most[v] for v in range(k)) for row in chosen.tolist()]
        assert [kind.holds(row[np.newaxis]) for row in chosen] == valid


def test_many_values_with_limits_take_little_memory() -> None:
    kind = islands.choices(100_000, 50_000, at_most=2, function=sum).kind
    every = np.arange(100_000)[np.newaxis] % 50_000
    assert kind.holds(every)
    assert not kind.holds(every * (every != 1))


def test_a_full_value_is_exchanged_with_any_item() -> None:
    n, calls = 12, list[NDArray[Any]]()

    def function(choices: NDArray[Any]) -> int:
        calls.append(choices)
        return 0

    own = islands.choices(n, 3, at_most=[4, 4, 5], function=function)
    sizes: Any = {"islands": 1, "population": 2, "generations": 20, "proposals": 100}
    islands.solve(own, backend="cpu", seed=1, threads=1, **sizes)
    replicas = (np.array(calls[70:])[begin::2] for begin in (0, 1))  # all moves are accepted
    moved = sum((each[1:] != each[:-1]).sum(axis=0) for each in replicas)
    assert moved.max() < 1.3 * moved.mean()
