"""All ways to give the same costs have the same digest, with every algorithm."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from models_for_tests import KINDS, model_of

import islands
from islands.backends.base import Backend
from islands.errors import RunError
from islands.modelling.model import Model

FEW: dict[str, Any] = {"stop": "generations=12", "seed": 2, "population": 16, "islands": 3}
FEW |= {"migration": "ring", "interval": 4, "migrants": 1}
FIRST = "__device__ void repair(Changing& s, int n, const Data& data) { s.set(0, 1); }"
PAIRS = [(3, 1), (1, 0), (5, 2), (7, 3)]
RULES: dict[str, tuple[str, dict[str, Any]]] = {
    **{kind: (kind, {}) for kind in KINDS},
    "choice": ("subset", {"choose": 5}),
    "range": ("subset", {"choose": (3, 6)}),
    "sequence": ("permutation", {"before": PAIRS}),
}
"""Kinds of solutions, and what their models state besides the cost."""
# All kernels of an algorithm evaluate costs in the same way, so each algorithm and each type of
# genome has one case, and each rule some.
CASES = [
    ("permutation", "ga", "permutation"),
    ("permutation", "brkga", "keys"),
    ("subset", "cellular", "bits"),
    ("subset", "pso", "keys"),
    ("keys", "ga", ""),
    ("real", "de", ""),
    ("choice", "tempering", "bits"),
    ("choice", "brkga", "keys"),
    ("range", "ga", "bits"),
    ("sequence", "tempering", "permutation"),
    ("sequence", "cellular", "permutation"),
    ("sequence", "de", "keys"),
]


def solved(problem: Any, name: str, algorithm: str, encoding: str, **more: Any) -> Any:
    own: dict[str, Any] = {"encoding": encoding} if encoding else {}
    own |= {"proposals": 40} if algorithm == "tempering" else {}
    return islands.solve(problem, algorithm=algorithm, backend=name, **own, **FEW | more)


def digests(made: Callable[[str], Model], on_gpu_paths: Any, *how: str) -> set[Any]:
    """Return the results of all ways to evaluate: in blocks, tiles, batches, on the host."""
    one, many = {facts(made("function"), *how)}, set()
    for is_on in (False, True):
        on_gpu_paths(is_on)
        one.add(facts(made("cost"), *how))
        many.add(facts(made("batch"), *how))
    assert len(many) == 1, "a batch has the same solutions wherever it is evaluated"
    if "tempering" in how:  # its chains evaluate moves after an accepted one, too
        many = {(cost, digest, *(each[2] for each in one)) for cost, digest, _ in many}
    return one | many


def facts(problem: Model, *how: str) -> tuple[Any, ...]:
    result = solved(problem, *how)
    assert problem.kind.holds(result.solution[None])
    assert problem.cost(result.solution) == result.cost
    return result.cost, result.digest, result.evaluations


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "algorithm", "encoding"), CASES)
def test_all_ways_to_evaluate_have_the_same_digest(
    backend: Backend, on_gpu_paths: Any, kind: str, algorithm: str, encoding: str
) -> None:
    state, more = RULES[kind]
    how = backend.name, algorithm, encoding
    assert len(digests(lambda by: model_of(state, by, **more), on_gpu_paths, *how)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["tempering", "ga", "brkga", "cellular"])
@pytest.mark.parametrize("kind", ["choice", "range", "sequence", "repaired choice"])
def test_every_search_keeps_all_rules(backend: Backend, kind: str, algorithm: str) -> None:
    state, more = RULES[kind.removeprefix("repaired ")]
    problem = model_of(state, "cost", **more, repair=FIRST if "repaired" in kind else None)
    solver = islands.Solver(
        problem, algorithm=algorithm, backend=backend.name, seed=1, islands=3, migration="ring"
    )
    for _ in range(3):
        solver.evolve(5)
        solver.exchange()
        for each in solver.best(20):
            assert problem.kind.holds(each.solution[None])
            assert problem.cost(each.solution) == each.cost


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "more"),
    [
        *((name, {"reset": 2}) for name in ("brkga", "de", "cellular", "pso")),
        ("memetic", {"reset": 2, "population": 8}),
        ("ga", {"replacement": "steady", "duplicates": "accept", "children": 5}),
        ("ga", {"replacement": "generational", "elite": 3, "reset": 2}),
    ],
)
def test_a_batch_knows_which_children_wait_in_each_generation(
    backend: Backend, on_gpu_paths: Any, algorithm: str, more: dict[str, Any]
) -> None:
    found = set()
    for by, is_on in (("cost", False), ("batch", True)):
        on_gpu_paths(is_on)
        result = solved(model_of("permutation", by), backend.name, algorithm, "", **more)
        found.add((result.cost, result.digest, result.evaluations))
    assert len(found) == 1, found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wrong", "maximise", "message"),
    [
        (np.nan, False, "batch= returned NaN"),
        (-np.inf, False, "batch= returned -INFINITY"),
        (np.inf, True, "batch= returned INFINITY"),
        (-(2**63), True, f"batch= returned {-(2**63)}: integer"),
    ],
)
def test_a_wrong_cost_in_a_batch_on_the_device_is_an_error(
    backend: Backend, on_gpu_paths: Any, wrong: float, maximise: bool, message: str
) -> None:
    kind = type(wrong)

    def costs(orders: Any) -> Any:
        found = orders[:, 0].astype(kind)
        if len(orders) > 1:  # the statement of the problem evaluates one solution
            found[orders[:, 0] == 3] = wrong
        return found

    on_gpu_paths(True)
    problem = islands.permutation(12, batch=costs, maximise=maximise)
    with pytest.raises(RunError) as raised:
        solved(problem, backend.name, "ga", "permutation")
    assert message in str(raised.value)


@pytest.mark.parametrize("returned", [np.uint8, np.float32, list])
def test_a_batch_may_return_any_numbers(backend: Backend, on_gpu_paths: Any, returned: Any) -> None:
    def costs(orders: Any) -> Any:
        found = orders[:, 0]
        return found.tolist() if returned is list else found.astype(returned)

    on_gpu_paths(True)
    result = solved(islands.permutation(12, batch=costs), backend.name, "ga", "permutation")
    assert result.cost == 0
    assert result.solution[0] == 0
