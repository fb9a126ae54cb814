"""Problems of a user's own that share launches have the results that each of them has alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import own_problems
import pytest
from emulated_gpu import EmulatedGpu
from shared_launches import facts, found, sources_of
from slow_problems import slow

import islands
from islands.archipelago import parts
from islands.archipelago.shared import SharedRuns
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import IslandsError, RunError
from islands.modelling.header import Functions, Text
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.run import halting
from islands.run.shared import VisitRecords

GA = {"algorithm": "ga", "islands": 1, "population": 8, "stop": ["converged", "generations=40"]}
TEMPERING = {"algorithm": "tempering", "islands": 2, "population": 4, "rungs": 2}
TEMPERING |= {"proposals": 200, "stop": "generations=7"}
DE = {"islands": 1, "population": 12, "stop": "generations=12"}
CASES: dict[str, tuple[Callable[..., Problem], dict[str, Any]]] = {
    "order with a price": (own_problems.order_with_price, GA),
    "moves with a price": (own_problems.order_with_price, TEMPERING),
    "repair": (own_problems.repaired_order, GA),
    "parts": (own_problems.order_in_parts, GA),
    "pairs": (own_problems.order_with_pairs, GA),
    "keys of an order": (own_problems.order, {"algorithm": "brkga", **DE}),
    "improved": (own_problems.order, {**GA, "algorithm": "memetic", "improver": "swap"}),
    "state": (own_problems.subset_with_state, TEMPERING),
    "vector": (own_problems.vector, DE),
    "medians": (own_problems.medians, TEMPERING),
    "crossover of a state": (
        own_problems.colouring,
        {**TEMPERING, "patience": 1, "tuning": 2, "stop": "generations=20"},
    ),
}
EMULATED = ("order with a price", "repair", "state", "vector")


def some(make: Callable[..., Problem], sizes: Sequence[int], seed: int = 5) -> list[Problem]:
    random = np.random.default_rng(seed)
    return [make(size, random) for size in sizes]


def alone(problem: Problem, number: int, **settings: Any) -> Result:
    return islands.solve(problem, backend="cpu", threads=1, seed=4 + number, **settings)


def require_same(problems: Sequence[Problem], backend: Backend, **settings: Any) -> list[int]:
    """Require the results of each alone; return those that shared launches."""
    every, shared = found(problems, backend, **settings), []
    for number, problem in enumerate(problems):
        mine, other = every[number], alone(problem, number, **settings)
        assert isinstance(mine, Result), mine
        if isinstance(mine.records, VisitRecords):
            shared.append(number)
        assert facts(mine) == facts(other)
        assert (mine.violation, mine.checked) == (other.violation, other.checked)
        table, same = mine.trace().drop_columns("seconds"), other.trace().drop_columns("seconds")
        assert table.equals(same)
    return shared


@pytest.mark.parametrize(
    ("name", "device"), [*((name, "cpu") for name in CASES), *((e, "emulated") for e in EMULATED)]
)
def test_each_has_the_result_that_it_has_alone(name: str, device: str) -> None:
    make, settings = CASES[name]
    backend = choose("cpu", 1) if device == "cpu" else EmulatedGpu(64)
    sizes = (12, 9, 12, 12, 9, 12) if device == "cpu" else (12, 12, 12)
    shared = require_same(some(make, sizes), backend, **settings)
    # Those whose memory depends on a number in the data share only with others that need less.
    assert len(shared) == len(sizes) or (name == "state" and len(shared) > 1)


@pytest.mark.parametrize("name", ["order with a price", "vector"])
def test_single_threads_of_a_gpu_evaluate_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, settings = CASES[name]
    gpu = EmulatedGpu(64)
    gpu.block_memory = 200_000
    monkeypatch.setattr(parts, "_FEW", 1)
    compiled = sources_of(monkeypatch)
    problems = some(make, (12,) * 5)
    every = found(problems, gpu, **settings)
    macros = [each.defines for each in compiled]
    own = [each for each in macros if "ISLANDS_INSTANCES" in each and "ISLANDS_PROBLEM" in each]
    assert own
    assert all("ISLANDS_TILED" in each for each in own)
    for number, problem in enumerate(problems):
        mine = every[number]
        assert isinstance(mine, Result)
        assert isinstance(mine.records, VisitRecords)
        assert facts(mine) == facts(alone(problem, number, **settings))


def test_problems_with_other_code_or_data_of_other_types_are_solved_alone() -> None:
    random = np.random.default_rng(3)
    problems = some(own_problems.order, (9, 9))
    data = {**problems[0].statement["data"], "weight": random.random(9)}
    problems.append(islands.models.changed(problems[0], data=data))
    twice = "__device__ long long cost(const Solution& s, int n, const Data& data) { return s[0]; }"
    problems.append(islands.models.changed(problems[0], cost=twice))
    problems.append(islands.permutation(9, function=lambda order: int(order[0])))
    problems.append(own_problems.order(9, random, maximise=True))
    assert require_same(problems, choose("cpu", 1), **GA) == [0, 1]


def test_a_state_that_needs_more_memory_than_the_first_is_solved_alone() -> None:
    problems = some(own_problems.subset_with_state, (12,) * 6)
    groups = [each.statement["data"]["groups"] for each in problems]
    shared = require_same(problems, choose("cpu", 1), **TEMPERING)

    def room(count: int) -> int:
        return -(-8 * count // 16) * 16  # as memory is aligned

    assert shared == [n for n, each in enumerate(groups) if room(each) <= room(groups[0])]
    assert 1 < len(shared) < 6, "choose another seed"


@pytest.mark.parametrize(
    ("constructor", "is_same"),
    [
        ("State(Memory& memory, int n, const Data&)", True),
        ("State(Memory& memory, int n, const Data& data)", False),
        ("State(Memory& memory, int n, const auto& data)", False),
        ("State(Memory& memory, int n, const Data& /* data */)", True),
    ],
)
def test_the_memory_of_a_state_is_that_of_the_first_only_if_it_cannot_read_data(
    constructor: str, is_same: bool
) -> None:
    code = f"struct State {{ __device__ {constructor} {{}} }};"
    cost = Text("cost", "")
    assert Functions(cost, None, None, False, Text("state", code)).memory_depends_on_data != is_same


@pytest.mark.parametrize("device", [choose("cpu", 1), EmulatedGpu(64)], ids=["cpu", "emulated"])
@pytest.mark.parametrize(("member", "wrong"), [("base", -np.inf), ("centre", np.full(9, np.nan))])
def test_a_wrong_cost_concerns_its_own_problem_only(
    member: str, wrong: Any, device: Backend
) -> None:
    problems = some(own_problems.vector, (9,) * 7)
    low, high = problems[3].low, problems[3].high
    data = {**problems[3].statement["data"], member: wrong}
    cost = problems[3].statement["cost"]
    problems[3] = islands.real(low, high, cost=cost, data=data, name="wrong")
    every = found(problems, device, **DE)
    with pytest.raises(RunError) as raised:
        alone(problems[3], 3, **DE)
    assert str(every.pop(3)) == str(raised.value)
    for number, mine in every.items():
        assert isinstance(mine, Result)
        assert isinstance(mine.records, VisitRecords)
        assert facts(mine) == facts(alone(problems[number], number, **DE))


def test_a_reference_that_contradicts_concerns_its_own_problem_only() -> None:
    problems = some(own_problems.order, (9,) * 4)
    problems[1] = islands.models.changed(problems[1], reference=lambda orders: orders[:, 0] - 1)
    every = found(problems, choose("cpu", 1), **GA)
    assert [isinstance(every[number], IslandsError) for number in range(4)] == [0, 1, 0, 0]
    assert "but its exact cost is" in str(every[1])


def test_evaluations_that_take_long_are_made_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halting, "_LONGEST", 0.2)
    problems = [slow("permutation", "cost", 0.02, quick=quick) for quick in (0, 10**9, 0, 0)]
    settings = {"algorithm": "ga", "islands": 1, "population": 32, "stop": "generations=1"}
    times = list[float]()
    original = SharedRuns.begin

    def begin(runs: SharedRuns, *given: Any) -> None:
        began = time.perf_counter()
        original(runs, *given)
        times.append(time.perf_counter() - began)

    monkeypatch.setattr(SharedRuns, "begin", begin)
    assert require_same(problems, choose("cpu", 1), **settings) == []
    (seconds,) = times
    assert 0.1 < seconds < 1.6  # instead of 1.9, as the costs sleep


def test_problems_that_reach_a_migration_are_not_begun_for_ever() -> None:
    problems = some(own_problems.order, (9,) * 40)
    settings = {**GA, "islands": 2, "migration": "ring", "interval": 5, "stop": "generations=9"}
    begun = list[int]()
    original = SharedRuns.begin

    def begin(runs: SharedRuns, chosen: Sequence[int], *others: Any) -> None:
        begun.extend(chosen)
        original(runs, chosen, *others)

    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(SharedRuns, "begin", begin)
        every = found(problems, choose("cpu", 1), **settings)
    assert 0 < len(begun) <= 16 + 9  # places, and those that are left before this is noticed
    for number in (0, 39):
        assert facts(every[number]) == facts(alone(problems[number], number, **settings))
