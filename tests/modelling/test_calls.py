"""A call is an evaluation: the calls of a user's function are those that a run counts."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import islands
from islands.encodings.direct import Permutation
from islands.parallel import World
from islands.testing.ranks import on_ranks

_N = 12
_WEIGHTS = np.random.default_rng(1).integers(1, 99, _N)
_COST = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = 0; i < n; ++i) sum += (i + 1) * data.weights[s[i]];
    return sum;
}
"""
_ALONE: dict[str, Any] = {"backend": "cpu", "threads": 1, "seed": 3, "islands": 2, "population": 10}
_MANY = {"proposals": 400}
"""The default depends on how the cost is given."""
_FIRST = 1
"""The call that finds out whether costs are real."""


def costs(orders: NDArray[Any]) -> NDArray[np.int64]:
    """Return the costs of orders, one per row."""
    found: NDArray[np.int64] = _WEIGHTS[orders] @ np.arange(1, _N + 1)
    return found


class Counted:
    """A function that counts the solutions that it is given."""

    def __init__(self, call: Callable[[Any], Any]) -> None:
        self._call, self.calls = call, 0

    def __call__(self, given: NDArray[Any]) -> Any:
        self.calls += len(given) if given.ndim > 1 else 1
        return self._call(given)


def functions() -> dict[str, Counted]:
    return {"batch": Counted(costs), "function": Counted(lambda order: costs(order[None])[0])}


KERNEL = islands.permutation(_N, cost=_COST, data={"weights": _WEIGHTS.astype(np.int32)})


def by_function() -> Any:
    return islands.permutation(_N, function=functions()["function"])


def solved(problem: Any, **settings: Any) -> islands.Result:
    return islands.solve(problem, **_ALONE | settings)


@pytest.mark.parametrize("by", ["batch", "function"])
@pytest.mark.parametrize("algorithm", ["tempering", "ga"])
def test_each_call_is_an_evaluation(by: str, algorithm: str) -> None:
    function = functions()[by]
    result = solved(islands.permutation(_N, **{by: function}), algorithm=algorithm, generations=3)
    checked = 1  # the best solution, at the end
    assert function.calls == _FIRST + result.evaluations + checked


def test_a_function_is_called_for_no_move_in_vain() -> None:
    options = {"algorithm": "tempering", "generations": 3, **_MANY}
    kernel, function = solved(KERNEL, **options), solved(by_function(), **options)
    batch = solved(islands.permutation(_N, batch=functions()["batch"]), **options)
    assert kernel.digest == function.digest == batch.digest
    assert function.evaluations == kernel.evaluations < batch.evaluations


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        (islands.keys, 6),  # steps out of [0, 1) end at its bounds
        # Often, all items of a group have the same value, and the other one is full.
        (partial(islands.choices, k=2, groups=[0, 0, 0, 1, 1, 1], at_most=[3, 4]), 6),
    ],
)
def test_a_move_that_changes_nothing_is_no_call(kind: Any, n: int) -> None:
    function = Counted(lambda solution: 0)
    options = {"algorithm": "tempering", "generations": 5, **_MANY}
    result = solved(kind(n, function=function), **options)
    assert function.calls == _FIRST + result.evaluations + 1
    text = "__device__ long long cost(const Solution& s, int n, const Data& d) { return 0; }"
    kernel = solved(kind(n, cost=text), **options)
    batch = solved(kind(n, batch=lambda rows: np.zeros(len(rows), np.int64)), **options)
    assert result.digest == batch.digest == kernel.digest
    assert result.evaluations == batch.evaluations < kernel.evaluations


def shown(start: list[float] | None) -> tuple[list[NDArray[Any]], list[NDArray[Any]]]:
    """Return the first states of two chains of keys, and the solutions of all later calls."""
    seen: list[NDArray[Any]] = []

    def function(keys: NDArray[Any]) -> int:
        seen.append(keys)
        return 0  # all moves are accepted

    sizes: Any = {"islands": 1, "population": 2, "start": start and [start, start], **_MANY}
    solved(islands.keys(40, function=function), algorithm="tempering", generations=5, **sizes)
    return seen[_FIRST : _FIRST + 2], seen[_FIRST + 2 : -1]


def test_no_chain_shows_a_function_its_state_again() -> None:
    states, later = shown(start=None)
    for keys in later[64:]:  # after samples of the changes
        changed = [int((keys != state).sum()) for state in states]
        assert min(changed) == 1
        states[int(np.argmin(changed))] = keys


def test_no_sample_of_the_changes_is_the_state() -> None:
    states, later = shown(start=[0.0] * 40)  # many steps end at the bound where they begin
    assert not np.any(states)
    assert all(keys.any() for keys in later)


@pytest.mark.parametrize("by", ["batch", "function"])
@pytest.mark.parametrize("algorithm", ["tempering", "ga", "brkga"])
@pytest.mark.parametrize("limit", [7, 50, 300, 301])
def test_a_run_ends_after_its_last_call(by: str, algorithm: str, limit: int) -> None:
    function = functions()[by]
    problem = islands.permutation(_N, **{by: function})
    population = 4 if algorithm == "tempering" else 10
    result = solved(problem, algorithm=algorithm, evaluations=limit, population=population)
    checked = 1
    assert result.evaluations == limit
    assert function.calls == _FIRST + limit + checked


@pytest.mark.parametrize("algorithm", ["tempering", "ga", "brkga"])
@pytest.mark.parametrize("above", [0, 100, 100_000])
def test_a_target_ends_a_run_at_the_call_that_reaches_it(algorithm: str, above: int) -> None:
    options: Any = {"algorithm": algorithm, "evaluations": 2000}
    target = int(solved(by_function(), **options).cost or 0) + above
    calls: list[int] = []

    def function(order: NDArray[Any]) -> int:
        calls.append(int(costs(order[None])[0]))
        return calls[-1]

    problem = islands.permutation(_N, function=function)
    result = solved(problem, target=target, record={"every": 5}, **options)
    own = calls[_FIRST:-1]
    assert [cost <= target for cost in own] == [False] * (len(own) - 1) + [True]
    assert (result.cost, result.evaluations) == (own[-1], len(own))
    assert "target" in str(result.reason)


@pytest.mark.parametrize("algorithm", ["tempering", "ga"])
def test_a_target_gives_the_same_bits_on_all_ranks(algorithm: str) -> None:
    problem = islands.permutation(_N, function=lambda order: costs(order[None])[0])
    options: Any = {"algorithm": algorithm, "target": 3100}
    alone = solved(problem, **options)
    for ranks in (2, 5):
        results = on_ranks(ranks, lambda world: solved(problem, world=world, **options))
        assert {(run.digest, run.cost) for run in results} == {(alone.digest, alone.cost)}


@pytest.mark.parametrize("limit", [25, 2345])
@pytest.mark.parametrize("algorithm", ["tempering", "ga"])
def test_a_cost_and_a_function_end_at_the_same_place(algorithm: str, limit: int) -> None:
    options: Any = {"algorithm": algorithm, "evaluations": limit}
    options |= _MANY if algorithm == "tempering" else {}
    kernel, function = solved(KERNEL, **options), solved(by_function(), **options)
    assert function.digest == kernel.digest
    assert function.evaluations == kernel.evaluations == limit


@pytest.mark.parametrize("algorithm", ["tempering", "ga", "pso"])
@pytest.mark.parametrize("first", [{"target": 10**9}, {"target": 3100}, {"evaluations": 3}])
def test_early_ends_resume_on_ranks(algorithm: str, first: dict[str, Any], tmp_path: Path) -> None:
    """All are resumed from the first call, from a target inside a generation, or from few."""
    own = {"cycle": 0, "tuning": 2, "rungs": 5, "proposals": 20} if algorithm == "tempering" else {}
    own |= {"encoding": "keys"} if algorithm == "pso" else {}
    settings: dict[str, Any] = {"algorithm": algorithm, **own, **first}
    further: dict[str, Any] = {"target": 2800, "generations": 8, "backend": "cpu", "threads": 1}
    found = set()
    for ranks in (1, 2):
        folder = tmp_path / str(ranks)
        called: list[int] = []

        def function(order: NDArray[Any], called: list[int] = called) -> int:
            assert sorted(order) == list(range(_N)), "an order"
            called.append(int(costs(order[None])[0]))
            return called[-1]

        problem = islands.permutation(_N, function=function)

        def both(world: World, problem: Any = problem, folder: Path = folder) -> islands.Result:
            begun = solved(problem, world=world, out=folder, **settings)
            assert "target" in first or begun.evaluations == first["evaluations"]
            return islands.resume(folder, problem=problem, world=world, **further)

        results = on_ranks(ranks, both)
        found |= {(each.digest, each.cost, each.generations) for each in results}
        assert min(called) == results[0].cost
    assert len(found) == 1


def test_a_cost_and_a_function_resume_alike_after_few_calls(tmp_path: Path) -> None:
    """Most replicas have made no evaluation: they begin with the individual that is copied."""
    options: Any = {"algorithm": "tempering", "evaluations": 3, "proposals": 20, "tuning": 2}
    results = set()
    for name, problem in {"cost": KERNEL, "function": by_function()}.items():
        solved(problem, out=tmp_path / name, rungs=5, cycle=0, **options)
        result = islands.resume(tmp_path / name, problem=problem, generations=8, backend="cpu")
        results.add((result.digest, result.evaluations))
    assert len(results) == 1


def test_a_target_costs_a_quick_function_no_steps_of_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All solutions of a generation are decoded at once; the function still ends at the target."""
    rows: list[int] = []
    decode = Permutation.decode

    def counted(self: Permutation, genomes: NDArray[Any]) -> NDArray[Any]:
        rows.append(len(genomes))
        return decode(self, genomes)

    monkeypatch.setattr(Permutation, "decode", counted)
    solved(by_function(), algorithm="ga", generations=20)
    without = len(rows)
    solved(by_function(), algorithm="ga", generations=20, target=0)
    assert len(rows) - without <= without + 2


@pytest.mark.parametrize("threads", [2, 3])
def test_processes_end_at_the_same_target(threads: int) -> None:
    problem, options = by_function(), {"algorithm": "ga", "target": 3100}
    alone, shared = (solved(problem, **options, threads=count) for count in (1, threads))
    assert (shared.digest, shared.cost) == (alone.digest, alone.cost)
    assert shared.evaluations >= alone.evaluations


@pytest.mark.parametrize("criterion", [{"gap": "20%"}, {"stop": "best-known"}])
def test_other_targets_end_at_the_same_call(criterion: dict[str, Any]) -> None:
    known = 3000
    target = known * 1.2 if "gap" in criterion else known
    options: Any = {"algorithm": "ga", "record": {"every": 5}, "generations": 300}
    ends = []
    for own in ({"target": target}, criterion):
        function = functions()["function"]
        problem = islands.permutation(_N, function=function, best_known=known)
        result = solved(problem, **options, **own)
        assert result.cost <= target
        ends.append((result.digest, result.cost, result.evaluations, function.calls))
    assert ends[0] == ends[1]
