"""Programs of models compile for GPUs, on a machine without one."""

from __future__ import annotations

import numpy as np
import pytest
from moving_problems import problem as moving_problem
from own_steps import problem as problem_of_steps
from programs_for_tests import for_gpu, require_compiles

import islands
from islands.algorithms import ALGORITHMS
from islands.archipelago.colonies import ColonySpec
from islands.archipelago.parts import ProgramParts
from islands.backends.base import Block
from islands.backends.source import Source
from islands.configuration.fit import fitting
from islands.encodings import base_encoding
from islands.improvers import ImproverSettings
from islands.modelling.model import Model

pytestmark = pytest.mark.gpu

_MEMORY = 200_000
_INTEGERS = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = data.first;
    for (int i = 0; i < n; ++i) sum += data.weight[i] * (long long)(8 * s[i]);
    return sum;
}
"""
_REALS = _INTEGERS.replace("long long cost", "double cost").replace("long long sum", "double sum")
_TOGETHER = """
__device__ long long cost(const Solution& s, int n, const Data& data) {
    long long sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sum += data.weight[i] * (long long)s[i];
    return block::sum(int64_t(sum));
}
"""
_REPAIR = "__device__ void repair(Changing& s, int n, const Data& data) { s.set(0, s[0]); }"
_RULE = """
__device__ double violation(const Solution& s, int n, const Data& data) {
    return s[0] > s[n - 1] ? 0.5 : 0.0;
}
"""
_WHOLE_RULE = _RULE.replace("double", "long long").replace("0.5 : 0.0", "1 : 0")
_BOTH = """
__device__ Change delta(const Solution& s, int n, const Data& data, const Swap& move) {
    const bool ends = move.u == 0 && move.v == n - 1, was = s[0] > s[n - 1];
    return {(data.weight[move.u] - data.weight[move.v]) * (s[move.v] - s[move.u]),
            ends ? (was ? -1 : 1) : 0};
}
"""
_BOTH_BY_STATE = """
struct State { __device__ State(Memory&, int, const Data&) {} };
__device__ void prepare(State&, const Solution&, int, const Data&) {}
__device__ Change change(const State&, const Solution& s, int n, const Data& data, Flip move) {
    return {data.weight[move.item], move.item % 2};
}
__device__ void apply(State&, const Solution&, int, const Data&, Flip) {}
"""
_DATA = {"weight": np.arange(12), "first": 3}


def problems() -> dict[str, Model]:
    """Return models of every kind, by name."""
    kinds = {"order": islands.permutation, "subset": islands.subset, "keys": islands.keys}
    found = {}
    for name, state in kinds.items():
        for what, cost in {"integers": _INTEGERS, "reals": _REALS}.items():
            found[f"{name}-{what}"] = state(12, cost=cost, data=_DATA)
            found[f"{name}-{what}-rule"] = state(12, cost=cost, violation=_RULE, data=_DATA)
        found[f"{name}-together"] = state(12, cost=_TOGETHER, cooperative=True, data=_DATA)
        found[f"{name}-rule"] = state(
            12, cost=_TOGETHER, cooperative=True, violation=_RULE, repair=_REPAIR, data=_DATA
        )
        found[f"{name}-repair"] = state(12, cost=_INTEGERS, repair=_REPAIR, data=_DATA)
        found[f"{name}-batch"] = state(12, batch=lambda solutions: solutions.sum(axis=1))
    found["subset-choice"] = islands.subset(
        12, choose=3, cost=_INTEGERS, repair=_REPAIR, data=_DATA
    )
    sequence = [(0, 3), (3, 1), (7, 2)]
    found["order-before"] = islands.permutation(
        12, before=sequence, parts=3, cost=_INTEGERS, repair=_REPAIR, violation=_RULE, data=_DATA
    )
    found["order-before-batch"] = islands.permutation(
        12, before=sequence, batch=lambda solutions: solutions[:, 0]
    )
    found["subset-range"] = islands.subset(12, choose=(3, 5), cost=_INTEGERS, data=_DATA)
    found["delta-rule"] = islands.permutation(
        12, cost=_INTEGERS, violation=_WHOLE_RULE, delta=_BOTH, data=_DATA
    )
    for what, cost in {"integers": _INTEGERS, "reals": _REALS}.items():
        found[f"state-{what}-rule"] = islands.subset(
            12, cost=cost, violation=_WHOLE_RULE, state=_BOTH_BY_STATE, data=_DATA
        )
    for what, cost in {"integers": _INTEGERS, "reals": _REALS}.items():
        found[f"box-{what}"] = islands.real(-1, 1, 12, cost=cost, data=_DATA)
    for kind in ("delta", "state of choice", "state of places", "state of vectors"):
        found[kind] = moving_problem(kind)[0]
    found["steps"] = problem_of_steps()
    found["shop"] = islands.models.job_shop([[0, 1], [1, 0]], [[1, 2], [3, 4]])
    found["flexible shop"] = islands.models.job_shop(
        [[0, [1, 2]]], [[3, [4, 5]]], due=[6], objective="tardiness"
    )
    found["covering"] = islands.models.set_cover([1, 2], [[0, 1], [1]])
    found["quadratic"] = islands.qubo([[1, 2], [3, 4]])
    found["quadratic-real"] = islands.qubo([[1.5, 2], [3, 4]])
    found["box-repair"] = islands.real(-1, 1, 12, cost=_REALS, repair=_REPAIR, data=_DATA)
    found["box-batch"] = islands.real(-1, 1, 12, batch=lambda solutions: solutions.sum(axis=1))
    return found


PROBLEMS = problems()


def program(problem: Model, algorithm: str, encoding: str, improver: ImproverSettings) -> Source:
    """Return the program of a run on a GPU."""
    kind = ALGORITHMS[algorithm]
    settings = kind.completed(kind.Settings.build({}), base_encoding(encoding))
    colony = ColonySpec(1, 16, algorithm, encoding, settings, improver)
    parts = ProgramParts.of(colony, problem, _MEMORY)
    return for_gpu("program.cuh", parts.macros(), Block(128, 4))


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_kind_of_problem_compiles_with_each_algorithm(name: str) -> None:
    problem = PROBLEMS[name]
    for algorithm, encoding in fitting(problem):
        source = program(problem, algorithm, encoding, ImproverSettings())
        require_compiles(source)


@pytest.mark.parametrize("improver", ["swap", "two_opt", "reinsert"])
@pytest.mark.parametrize("cost", [_INTEGERS, _REALS])
@pytest.mark.parametrize("rule", [None, _RULE])
def test_local_search_compiles_without_a_delta(cost: str, improver: str, rule: str | None) -> None:
    problem = islands.permutation(12, cost=cost, violation=rule, data=_DATA)
    for encoding in ("keys", "permutation"):
        settings = ImproverSettings(name=improver)
        require_compiles(program(problem, "ga", encoding, settings))
