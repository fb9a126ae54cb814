"""All ways to give the same costs have the same digest, with every algorithm."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from models_for_tests import KINDS, model_of

import islands
from islands.archipelago import parts as program_parts
from islands.backends.base import Backend
from islands.errors import RunError

FEW: dict[str, Any] = {
    "stop": "generations=12",
    "seed": 2,
    "population": 16,
    "islands": 3,
    "migration": "ring",
    "interval": 4,
    "migrants": 1,
}
ENCODINGS = {
    "permutation": ("permutation", "keys"),
    "subset": ("bits", "keys"),
    "keys": ("",),
    "real": ("",),
}
ONLY_KEYS = {"brkga", "de"}
ALGORITHMS = ("ga", "brkga", "cellular", "de", "pso")


USUAL = [
    ("permutation", "ga", "permutation"),
    ("permutation", "brkga", "keys"),
    ("subset", "cellular", "bits"),
    ("subset", "pso", "keys"),
    ("keys", "ga", ""),
    ("real", "de", ""),
]


def cases() -> list[Any]:
    """Return all kinds of solutions with the algorithms and encodings that accept them."""
    found = []
    for kind in KINDS:
        for algorithm, encoding in product(ALGORITHMS, ENCODINGS[kind]):
            is_swarm_of_orders = (kind, algorithm, encoding) == ("permutation", "pso", encoding)
            if encoding in ("permutation", "bits") and algorithm in ONLY_KEYS:
                continue
            if is_swarm_of_orders and encoding == "permutation":
                continue
            # All kernels of an algorithm evaluate costs in the same way, so one case per algorithm
            # and one per type of genome is enough.
            marks = [] if (kind, algorithm, encoding) in USUAL else [pytest.mark.slow]
            found.append(pytest.param(kind, algorithm, encoding, marks=marks))
    return found


def solved(problem: Any, name: str, algorithm: str, encoding: str, **more: Any) -> Any:
    own = {"encoding": encoding} if encoding else {}
    return islands.solve(problem, algorithm=algorithm, backend=name, **own, **FEW | more)


@pytest.fixture
def on_gpu_paths(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that lets the CPU evaluate as GPUs do: in tiles, or in batches."""
    usual = program_parts._evaluated_by

    def choose(is_on: bool) -> None:
        chosen = (
            (
                lambda problem, improver, decoding, on_cpu: usual(
                    problem, improver, decoding, on_cpu=False
                )
            )
            if is_on
            else usual
        )
        monkeypatch.setattr(program_parts, "_evaluated_by", chosen)

    return choose


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "algorithm", "encoding"), cases())
def test_five_evaluations_have_the_same_digest(
    backend: Backend, on_gpu_paths: Any, kind: str, algorithm: str, encoding: str
) -> None:
    found = {}
    for name, by, is_on in (
        ("block", "cost", False),
        ("tiles", "cost", True),
        ("batch", "batch", True),
        ("host", "batch", False),
        ("function", "function", False),
    ):
        on_gpu_paths(is_on)
        problem = model_of(kind, by)
        result = solved(problem, backend.name, algorithm, encoding)
        found[name] = (result.cost, result.digest, result.evaluations)
        assert problem.cost(result.solution) == result.cost
    assert len(set(found.values())) == 1, found


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
def test_costs_of_a_batch_may_have_any_type_of_numbers(
    backend: Backend, on_gpu_paths: Any, returned: Any
) -> None:
    def costs(orders: Any) -> Any:
        found = orders[:, 0]
        return found.tolist() if returned is list else found.astype(returned)

    on_gpu_paths(True)
    result = solved(islands.permutation(12, batch=costs), backend.name, "ga", "permutation")
    assert result.cost == 0
    assert result.solution[0] == 0
