"""Instances that share launches have the same results as when each is solved alone."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import own_problems
import pytest
from emulated_gpu import EmulatedGpu
from numpy_flips import sparse_pairs
from shared_launches import (
    alone,
    found,
    require_as_alone,
    require_compiles_for_gpus,
    require_same,
    sources_of,
)
from slow_problems import slow

import islands
from islands import models
from islands.archipelago import parts
from islands.archipelago.shared import FinalIslands, SharedRuns
from islands.backends import choose
from islands.backends.base import Backend
from islands.engine import shared as sharing
from islands.engine.limits import LIMITS
from islands.engine.shared import VisitRecords
from islands.errors import IslandsError, RunError
from islands.instances.grids import grid
from islands.modelling.header import Functions
from islands.modelling.model import Model
from islands.modelling.texts import Text
from islands.problems.base import Problem
from islands.problems.qap import Qap

RANDOM = np.random.default_rng(54)
EAX = {"islands": 2, "population": 12, "stop": ["converged", "generations=60"]}


def tours(count: int, size: int = 40) -> list[Problem]:
    return [islands.tsp(each) for each in RANDOM.random((count, size, 2)) * 1000]


def matrices(count: int) -> list[Problem]:
    halves = RANDOM.integers(1, 99, (count, 14, 14))
    return [islands.tsp(distances=np.triu(each, 1) + np.triu(each, 1).T) for each in halves]


def facilities(count: int) -> list[Problem]:
    halves = RANDOM.integers(0, 99, (count, 2, 9, 9))
    return [islands.qap(each + each.T, other + other.T) for each, other in halves]


def unlike() -> list[Problem]:
    """Return assignments of one size and different kinds, several of each."""
    made = facilities(3)
    made += [islands.qap(each, other) for each, other in RANDOM.integers(0, 99, (3, 2, 9, 9))]
    # Kernels of equal facilities need as much memory as there are pairs of different ones.
    equal, others = np.ones((9, 9), int), RANDOM.integers(0, 9, (3, 9, 9))
    made += [islands.qap(equal * number, other) for number, other in enumerate(others)]
    large = [np.where(each < 4, each * 1000, 0) for each in RANDOM.integers(0, 99, (3, 9, 9))]
    return made + [islands.qap(each + each.T, each) for each in large]


def knapsacks(count: int, rows: int = 4, size: int = 30) -> list[Problem]:
    profits = RANDOM.integers(1, 99, (count, size))
    weights = RANDOM.integers(1, 99, (count, rows, size))
    return list(islands.mkp_batch(profits, weights, [20 * size] * rows))


def worse_and_worse(count: int) -> list[Problem]:
    """Return knapsacks, each with lower profits than the one before."""
    weights = RANDOM.integers(1, 99, (2, 30))
    profits = RANDOM.integers(50, 99, 30)
    return [islands.mkp(profits * (count - k), weights, [600] * 2) for k in range(count)]


CASES = {
    "eax": (tours(9), EAX),
    "eax on matrices": (matrices(3), EAX),
    "tempering": (facilities(6), {"islands": 2, "stop": "converged"}),
    "few replicas": (facilities(3), {"islands": 1, "population": 8, "stop": "generations=5"}),
    "unlike": (unlike(), {"islands": 1, "population": 8, "stop": "generations=45"}),
    # Each ends at a lower bound of its own.
    "sparse": (
        [Qap(grid(4, 5, seed).file()) for seed in (1, 2, 3, 4)],
        {"islands": 1, "stop": "generations=2000"},
    ),
    "growth": (
        [Qap(grid(4, 5, seed, hidden=2, deleted=20).file()) for seed in range(1, 6)],
        {"algorithm": "growth", "islands": 2, "population": 6, "growths": 16, "sweeps": 2}
        | {"batches": 2, "stop": "generations=7"},
    ),
    "core": (
        [*knapsacks(4), *knapsacks(3)],
        {"islands": 2, "population": 8, "proposals": 2000, "stop": "generations=12"},
    ),
    # More than there are places, so that runs begin where others were.
    "swarm of knapsacks": (
        knapsacks(7),
        {"algorithm": "pso", "islands": 1, "population": 64, "stop": "generations=9"},
    ),
    "archives": (
        worse_and_worse(9),
        {"algorithm": "ga", "infeasible": "dynamic", "islands": 1, "population": 64}
        | {"stop": "generations=4"},
    ),
    "brkga": (
        tours(3, 20),
        {"algorithm": "brkga", "islands": 1, "population": 16, "reset": 3}
        | {"stop": ["stagnation=20", "generations=70"]},
    ),
}


# On a CPU, the contracts of runs solve instances of the others together.
FIRST_ON_CPU = ["eax on matrices", "few replicas", "unlike", "sparse", "growth"]
ON_CPU = [(each, "cpu") for each in (*FIRST_ON_CPU, "core", "archives")]
EMULATED = ["eax", "few replicas", "growth", "core", "archives", "brkga"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "device"), [*ON_CPU, *((each, "emulated") for each in EMULATED)])
def test_each_has_the_result_that_it_has_alone(name: str, device: str) -> None:
    problems, settings = CASES[name]
    backend = choose("cpu", 2) if device == "cpu" else EmulatedGpu(64)
    assert len(require_same(problems, backend, **settings)) > 1, "they were solved alone"


@pytest.mark.slow
def test_places_without_an_instance_do_no_harm() -> None:
    # The struct of the second problem has other numbers, so that its place stays free at first.
    problems = [*facilities(1), islands.qap(np.ones((9, 9), int), np.ones((9, 9), int))]
    settings: dict[str, Any] = {"islands": 1, "stop": "generations=45"}
    every = found(problems * 3, choose("cpu", 1), **settings)
    require_all_as_alone(every, problems * 3, **settings)


@pytest.mark.slow
@pytest.mark.parametrize("data", [{"coordinates": [[3, 4]]}, {"distances": [[0]]}])
def test_tours_of_one_city(data: dict[str, Any]) -> None:
    problems = [islands.tsp(**data) for _ in range(20)]
    results = islands.solve_many(problems, backend="cpu", threads=1, seed=1)
    assert [(each.cost, each.solution.tolist()) for each in results] == [(0, [0])] * 20


def test_networks_of_tempering_are_their_own() -> None:
    problems = [Qap(grid(8, 8, seed, hidden=2).file()) for seed in (1, 2, 3)]
    settings: dict[str, Any] = {"algorithm": "tempering", "islands": 1, "population": 8}
    settings |= {"rungs": 4, "tuning": 2, "sweeps": 2, "stop": "generations=6"}
    assert require_same(problems, choose("cpu", 1), **settings) == [0, 1, 2]


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_pairs_of_cuts_are_their_own(device: str) -> None:
    pairs = sparse_pairs(530, 1060)
    problems = [
        models.max_cut(pairs, weights, nodes=530)
        for weights in np.random.default_rng(3).choice([-2, -1, 1, 3], (3, len(pairs)))
    ]
    settings: dict[str, Any] = {"islands": 1, "population": 4, "proposals": 1300}
    settings |= {"tuning": 2, "cycle": 4, "stop": "generations=8"}
    backend = choose("cpu", 1) if device == "cpu" else EmulatedGpu(64)
    assert require_same(problems, backend, **settings) == [0, 1, 2]


def test_an_instance_that_comes_later_takes_a_free_place(monkeypatch: pytest.MonkeyPatch) -> None:
    problems = [islands.tsp(each) for each in np.random.default_rng(1).random((5, 60, 2)) * 1000]
    settings: dict[str, Any] = {"islands": 1, "population": 30, "stop": "converged"}
    keys = iter([0, 1, 2, 3, None, None, 4])  # the last one comes after a place has become free
    with monkeypatch.context() as without:
        without.setattr(islands, "solve", None)  # none is solved alone
        every = found(problems, choose("cpu", 1), keys=keys, **settings)
    require_all_as_alone(every, problems, **settings)


def test_what_was_found_is_kept_when_the_rest_must_end(monkeypatch: pytest.MonkeyPatch) -> None:
    problems, ends, original = tours(40, 9), list[int](), SharedRuns.final

    def interrupted(runs: SharedRuns, chosen: Sequence[int]) -> list[FinalIslands]:
        ends.extend(chosen)  # as by a signal, while several have just ended
        return original(runs, chosen)

    monkeypatch.setattr(SharedRuns, "final", interrupted)
    settings = {**EAX, "stop": "generations=5"}
    every = found(problems, choose("cpu", 1), lambda: bool(ends), **settings)
    assert len(every) == len(ends)
    assert 1 < len(ends) < len(problems)
    require_all_as_alone(every, problems, **settings)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["eax", "tempering", "growth", "swarm of knapsacks"])
def test_programs_compile_for_gpus(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problems, settings = CASES[name]
    require_compiles_for_gpus(monkeypatch, problems[:2], **settings)


GA = {"algorithm": "ga", "islands": 1, "population": 8, "stop": ["converged", "generations=40"]}
TEMPERING = {"algorithm": "tempering", "islands": 2, "population": 4, "rungs": 2}
TEMPERING |= {"proposals": 200, "stop": "generations=7"}
DE = {"islands": 1, "population": 12, "stop": "generations=12"}
MODELS: dict[str, tuple[Callable[..., Problem], dict[str, Any]]] = {
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
EMULATED_MODELS = [
    pytest.param(each, "emulated", marks=pytest.mark.slow)
    for each in ("order with a price", "repair", "state", "vector")
]


def some(make: Callable[..., Problem], sizes: Sequence[int], seed: int = 5) -> list[Problem]:
    random = np.random.default_rng(seed)
    return [make(size, random) for size in sizes]


def require_all_as_alone(
    every: dict[int, Any], problems: Sequence[Problem], **settings: Any
) -> None:
    for number, mine in every.items():
        require_as_alone(mine, alone(problems[number], number, **settings))


def changed(problem: Model, **arguments: Any) -> Model:
    """Return a problem with other arguments."""
    return Model(problem.kind, replace(problem.statement, **arguments))


@pytest.mark.parametrize(
    ("name", "device"), [*((name, "cpu") for name in MODELS), *EMULATED_MODELS]
)
def test_each_model_has_the_result_that_it_has_alone(name: str, device: str) -> None:
    make, settings = MODELS[name]
    backend = choose("cpu", 1) if device == "cpu" else EmulatedGpu(64)
    sizes = (12, 9, 12, 12, 9, 12) if device == "cpu" else (12, 12, 12)
    shared = require_same(some(make, sizes), backend, **settings)
    # Those whose memory depends on a number in the data share only with others that need less.
    assert len(shared) == len(sizes) or (name == "state" and len(shared) > 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["order with a price", "vector"])
def test_single_threads_of_a_gpu_evaluate_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, settings = MODELS[name]
    gpu = EmulatedGpu(64)
    gpu.shared_memory = 200_000
    monkeypatch.setattr(parts, "_FEW", 1)
    compiled = sources_of(monkeypatch)
    problems = some(make, (12,) * 5)
    every: dict[int, Any] = found(problems, gpu, **settings)
    macros = [each.defines for each in compiled]
    own = [each for each in macros if "ISLANDS_INSTANCES" in each and "ISLANDS_PROBLEM" in each]
    assert own
    assert all("ISLANDS_TILED" in each for each in own)
    assert all(isinstance(each.records, VisitRecords) for each in every.values())
    require_all_as_alone(every, problems, **settings)


@pytest.mark.slow
def test_problems_with_other_code_or_data_of_other_types_are_solved_alone() -> None:
    random = np.random.default_rng(3)
    problems = some(own_problems.order, (9, 9))
    data = {**problems[0].statement.data, "weight": random.random(9)}
    problems.append(changed(problems[0], data=data))
    twice = "__device__ long long cost(const Solution& s, int n, const Data& data) { return s[0]; }"
    problems.append(changed(problems[0], cost=twice))
    problems.append(islands.permutation(9, function=lambda order: int(order[0])))
    problems.append(own_problems.order(9, random, maximise=True))
    assert require_same(problems, choose("cpu", 1), **GA) == [0, 1]


class Heavier(islands.models.MaxCut):
    """Cuts with other data than their base class, and a cost that depends on it."""

    def __init__(self, edges: Any, more: int, dtype: Any = np.int64) -> None:
        self.more, self.dtype = more, dtype
        super().__init__(edges)

    def data(self) -> dict[str, Any]:
        data = super().data()
        return data | {"weight": (data["weight"] + self.more).astype(self.dtype)}


class Heaviest(Heavier):
    pass


class Unlike(Heavier):
    """Cuts whose default settings differ between problems."""

    def defaults(self) -> dict[str, Any]:
        return {**super().defaults(), "proposals": 100 * self.more}


@pytest.mark.slow
def test_subclasses_share_launches_with_problems_of_the_same_class_and_data() -> None:
    edges = [(a, b) for a in range(9) for b in range(a)]
    problems: list[Problem] = [Heavier(edges, more) for more in (1, 2, 3)]
    problems += [islands.models.max_cut(edges), Heavier(edges[1:], 1), Heavier(edges, 1, np.int32)]
    problems += [Heaviest(edges, 4), Unlike(edges, 5), Unlike(edges, 6)]
    keys = [(type(each), each.launch_key()) for each in problems[:7]]
    assert keys[:3] == [keys[0]] * 3
    assert len({*keys}) == 5
    assert problems[7].launch_key() is None
    settings = {name: value for name, value in TEMPERING.items() if name != "proposals"}
    assert require_same(problems, choose("cpu", 1), **settings) == [0, 1, 2]


def test_a_state_that_needs_more_memory_than_the_first_is_solved_alone() -> None:
    problems = some(own_problems.subset_with_state, (12,) * 6)
    groups = [each.statement.data["groups"] for each in problems]
    shared = require_same(problems, choose("cpu", 1), **TEMPERING)

    def room(count: int) -> int:
        return -(-8 * count // 16) * 16  # as memory is aligned

    assert shared == [n for n, each in enumerate(groups) if room(each) <= room(groups[0])]
    assert 1 < len(shared) < 6, "choose another seed"


@pytest.mark.parametrize(
    ("data", "is_same"),
    [("const Data&", True), ("const Data& data", False), ("const auto& d", False)],
)
def test_the_memory_of_a_state_is_that_of_the_first_only_if_it_cannot_read_data(
    data: str, is_same: bool
) -> None:
    code = f"struct State {{ __device__ State(Memory& memory, int n, {data}) {{}} }};"
    cost = Text("cost", "")
    functions = Functions(cost, state=Text("state", code))
    assert functions.memory_depends_on_data != is_same


@pytest.mark.slow
@pytest.mark.parametrize("device", [choose("cpu", 1), EmulatedGpu(64)], ids=["cpu", "emulated"])
@pytest.mark.parametrize(("member", "wrong"), [("base", -np.inf), ("centre", np.full(9, np.nan))])
def test_a_wrong_cost_concerns_its_own_problem_only(
    member: str, wrong: Any, device: Backend
) -> None:
    problems = some(own_problems.vector, (9,) * 7)
    low, high = problems[3].low, problems[3].high
    data = {**problems[3].statement.data, member: wrong}
    cost = problems[3].statement.cost
    problems[3] = islands.real(low, high, cost=cost, data=data, name="wrong")
    every: dict[int, Any] = found(problems, device, **DE)
    with pytest.raises(RunError) as raised:
        alone(problems[3], 3, **DE)
    assert str(every.pop(3)) == str(raised.value)
    assert all(isinstance(each.records, VisitRecords) for each in every.values())
    require_all_as_alone(every, problems, **DE)


def test_a_reference_that_contradicts_concerns_its_own_problem_only() -> None:
    problems = some(own_problems.order, (9,) * 4)
    problems[1] = changed(problems[1], reference=lambda orders: orders[:, 0] - 1)
    every = found(problems, choose("cpu", 1), **GA)
    assert [isinstance(every[number], IslandsError) for number in range(4)] == [0, 1, 0, 0]
    assert "but its exact cost is" in str(every[1])


@pytest.mark.slow
def test_evaluations_that_take_long_are_made_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing, "LIMITS", replace(LIMITS, longest_launch=0.2))
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
