"""Calls whose arguments do not fit are refused with the names that do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import islands
from islands.calls import explained
from islands.errors import UsageError

MODELS: Any = islands.models
ANY: Any = islands


def cost(solution: Any) -> int:
    return 0


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: ANY.permutation(5, cost), ["function="]),
        (lambda: ANY.permutation(5, function=cost, maximize=True), ["'maximise'"]),
        (lambda: ANY.permutation(function=cost), ["n is"]),
        (lambda: ANY.permutation(5, n=5, function=cost), ["n is"]),
        (lambda: ANY.real(0, 1, 2, cost), ["function="]),
        (lambda: ANY.tsp([[0, 0]], "EUC_2D", "a"), ["name="]),
        (lambda: MODELS.qubo([[1]], True), ["maximise="]),
        (lambda: MODELS.p_median([[1]]), ["p is"]),
        (lambda: MODELS.job_shop([[0]], [[1]], [1]), ["release="]),
        (lambda: MODELS.changed(), ["problem is"]),
        (lambda: ANY.solve(), ["problem is"]),
        (lambda: ANY.solve("demo/qap", 5), ["algorithm="]),
        (lambda: ANY.solve("demo/qap", cost), ["callback="]),
        (lambda: ANY.solve("demo/qap", second=3), ["'seconds'"]),
        (lambda: ANY.solve("demo/qap", maximize=True), ["maximise=True"]),
        (lambda: ANY.solve_many(["demo/qap"], 3), ["problems"]),
        (lambda: ANY.solve_many(["demo/qap"], second=3), ["'seconds'"]),
        (lambda: ANY.iter_many(["demo/qap"], 3), ["seed="]),
        (lambda: list(ANY.iter_many(["demo/qap"], second=3)), ["'seconds'"]),
        (lambda: ANY.Solver("demo/qap", None, 3), ["seed="]),
        (lambda: ANY.Solver("demo/qap", second=3), ["'seconds'"]),
        (lambda: ANY.Session("cpu"), ["backend="]),
        (lambda: ANY.resume(), ["folder is"]),
    ],
)
def test_wrong_calls_are_refused_with_the_right_names(
    call: Callable[[], Any], names: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert [name for name in names if name not in str(caught.value)] == []


def test_an_error_inside_of_a_call_is_kept() -> None:
    @explained
    def wrong(number: int) -> int:
        return len(number)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len"):
        wrong(3)
