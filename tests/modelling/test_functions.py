"""Python functions that fail or return something else give one error that names the value."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import islands
from islands.errors import RunError
from islands.modelling.functions import UserFunction

N = 6
ORDERS = np.tile(np.arange(N, dtype=np.int32), (4, 1))


def divides(row: Any) -> float:
    return 1 // (int(row[0]) * 0)


def changes(row: Any) -> int:
    row[0] = 5
    return 1


def error(function: Any, argument: str, *, real: bool | None = None) -> str:
    with pytest.raises(RunError) as raised:
        UserFunction(argument, function).costs(ORDERS, real=real)
    return str(raised.value)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda row: None, "function= returned None"),
        (lambda row: 1j, "function= returned 1j"),
        (lambda row: [1], "an array of shape (1,) and type int64"),
        (lambda row: np.nan, "NaN for the solution [0, 1, 2, 3, 4, 5]"),
        (lambda row: 2**70, "function= returned 1180591620717411303424"),
        (lambda row: -(2**63), "returned -9223372036854775808"),
        (lambda row: row[0] > 3, "true or false"),
        (divides, "'return 1 // (int(row[0]) * 0)'"),
        (changes, "changed the solutions that it was given"),
    ],
)
def test_wrong_functions_of_one_solution(function: Any, message: str) -> None:
    assert message in error(function, "function")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rows: 1, "batch= returned 1"),
        (lambda rows: rows, "an array of shape (4, 6) and type int32"),
        (lambda rows: ["a"] * 4, "returned ['a', 'a', 'a', 'a']"),
        (lambda rows: [[1], [1, 2], 3, 4], "not an array of 4 numbers"),
        (lambda rows: rows[:, 0] > 3, "true or false"),
        (lambda rows: np.full(4, 2**63, np.uint64), "integer costs must be from -2**62"),
        (lambda rows: rows.nothing, "raised AttributeError: "),
    ],
)
def test_wrong_functions_of_many_solutions(function: Any, message: str) -> None:
    assert message in error(function, "batch")


def test_integers_after_a_first_integer_cost_stay_integers() -> None:
    assert "real costs, such as 1.5" in error(lambda row: 1.5, "function", real=False)
    costs = UserFunction("function", lambda row: 2).costs(ORDERS, real=True)
    assert costs.dtype == np.float64


@pytest.mark.parametrize(("maximise", "best"), [(False, -np.inf), (True, np.inf)])
def test_an_infinite_cost_better_than_all_others_is_refused(maximise: bool, best: float) -> None:
    problem = islands.permutation(N, function=lambda row: best, maximise=maximise)
    with pytest.raises(RunError, match=f"a cost is {best}"):
        islands.solve(problem, algorithm="ga", backend="cpu", stop="generations=2")


def leaves(row: Any) -> float:
    sys.exit(0)


def leaves_with_words(row: Any) -> float:
    sys.exit("enough")


def interrupts(row: Any) -> float:
    raise KeyboardInterrupt


@pytest.fixture
def handled() -> Iterator[None]:
    """Handle SIGINT, as a run does."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("argument", "function", "said"),
    [
        ("function", leaves, "SystemExit: 0"),
        ("batch", leaves_with_words, "SystemExit: enough"),
        ("reference", interrupts, "KeyboardInterrupt: "),
    ],
)
@pytest.mark.usefixtures("handled")
def test_a_function_cannot_end_the_run(function: Any, said: str, argument: str) -> None:
    words = error(function, argument)
    assert f"{argument}= raised {said}" in words


def test_an_exception_of_a_signal_handler_is_none_of_the_function() -> None:
    def handler(_number: int, _frame: Any) -> None:
        sys.exit(3)

    before = signal.signal(signal.SIGUSR2, handler)
    try:
        with pytest.raises(SystemExit) as raised:
            UserFunction("function", lambda row: signal.raise_signal(signal.SIGUSR2)).costs(
                ORDERS, real=None
            )
    finally:
        signal.signal(signal.SIGUSR2, before)
    assert raised.value.code == 3
