"""Programs of models compile for GPUs, on a machine without one."""

from itertools import product
from typing import Any

import models_to_digest
import numpy as np
import own_problems
import pytest
import shops_to_digest
from models_for_tests import KINDS, model_of
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
_OWN = (
    *(own_problems.order, own_problems.order_with_price, own_problems.order_in_parts),
    *(own_problems.repaired_order, own_problems.order_with_pairs, own_problems.subset),
    *(own_problems.subset_with_state, own_problems.keys, own_problems.vector),
)
_MOVING = ("delta", "state of choice", "state of places", "state of vectors", "repaired choice")


def problems() -> dict[str, Model]:
    """Return models of every kind, by name."""
    found: dict[str, Any] = {}
    for make in _OWN:
        found[make.__name__] = make(12, np.random.default_rng(1))
    for kind, by in product(KINDS, ("cost", "batch")):
        found[f"{kind}-{by}"] = model_of(kind, by)
        if by == "cost":
            found[f"{kind}-rule"] = model_of(kind, by, violation=_RULE, repair=_REPAIR)
    for make in (islands.permutation, islands.subset, islands.keys):
        own: Any = {"cost": _TOGETHER, "cooperative": True, "data": {"weight": np.arange(12)}}
        found[f"{make.__name__}-together"] = make(12, **own)
        found[f"{make.__name__}-together-rule"] = make(12, **own, violation=_RULE)
    found |= {kind: moving_problem(kind)[0] for kind in _MOVING}
    found["steps"] = problem_of_steps()
    found["choice"] = model_of("subset", "cost", choose=3, repair=_REPAIR)
    found["range"] = model_of("subset", "batch", choose=(3, 5))
    for module in (models_to_digest, shops_to_digest):
        models = {name: each for name, each in vars(module).items() if isinstance(each, Model)}
        found |= models
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
@pytest.mark.parametrize("rule", [None, _RULE])
def test_local_search_compiles_without_a_delta(improver: str, rule: str | None) -> None:
    problem = model_of("permutation", "cost", violation=rule)
    for encoding in ("keys", "permutation"):
        settings = ImproverSettings(name=improver)
        require_compiles(program(problem, "ga", encoding, settings))
