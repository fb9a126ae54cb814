"""Python functions that fail or return something else give one error that names the value."""

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


def error(function: Any, argument: str) -> str:
    with pytest.raises(RunError) as raised:
        UserFunction(argument, function).costs(ORDERS, real=None)
    return str(raised.value)


def test_an_error_names_the_line_and_integers_may_become_real() -> None:
    words = error(lambda row: 1 // (int(row[0]) * 0), "function")
    assert "words = error(lambda row: 1 // (int(row[0]) * 0), " in words
    costs = UserFunction("function", lambda row: 2).costs(ORDERS, real=True)
    assert costs.dtype == np.float64


MASKED = np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0])


@pytest.mark.parametrize(
    ("argument", "returned", "words"),
    [
        ("batch", [1.0, 2.0, np.nan, 3.0], "NaN for the solution"),
        ("batch", [1, 2, 3, 2**62 + 1], str(2**62 + 1)),
        ("batch", MASKED, "batch= returned masked"),
        ("function", np.ma.masked, "function= returned masked"),
        (*("batch", [[1], [1, 2], 3, 4], "batch= returned [[1], [1, 2], 3, 4]. Return an array"),),
    ],
)
def test_what_is_no_cost_is_rejected(argument: str, returned: Any, words: str) -> None:
    assert words in error(lambda given: returned, argument)
    least = UserFunction("batch", lambda rows: [1, 2, 3, -(2**62)]).costs(ORDERS, real=None)
    assert least.min() == -(2**62)


@pytest.mark.parametrize(
    ("later", "said"), [(0.5, "real costs, such as 0.5, but its first"), (np.nan, "NaN. Return a")]
)
def test_a_real_cost_after_integers_is_named(later: float, said: str) -> None:
    function = UserFunction("function", lambda row: 7 if row[0] == 0 else later)
    with pytest.raises(RunError, match=said):
        function.costs(np.array([[0, 1], [1, 0]]), real=False)


@pytest.mark.parametrize("argument", ["function", "batch", "reference"])
def test_a_function_of_other_arguments_names_no_line_of_this_package(argument: str) -> None:
    words = error(lambda: 0, argument)
    assert "raised TypeError" in words
    assert "functions.py" not in words


@pytest.mark.parametrize(("maximise", "best"), [(False, -np.inf), (True, np.inf)])
def test_an_infinite_cost_better_than_all_others_is_rejected(maximise: bool, best: float) -> None:
    problem = islands.permutation(N, function=lambda row: best, maximise=maximise)
    with pytest.raises(RunError, match=f"a cost is {best}"):
        islands.solve(problem, algorithm="ga", backend="cpu", stop="generations=2")


@pytest.fixture
def handled() -> Iterator[None]:
    """Handle SIGINT, as a run does."""
    before = signal.signal(signal.SIGINT, lambda *_: None)
    yield
    signal.signal(signal.SIGINT, before)


def raises(error: BaseException) -> Any:
    def function(_: Any) -> None:
        raise error

    return function


@pytest.mark.parametrize(
    ("argument", "error_of", "words"),
    [
        ("function", SystemExit(0), "SystemExit: 0"),
        ("batch", SystemExit("enough"), "SystemExit: enough"),
        ("reference", KeyboardInterrupt(), "KeyboardInterrupt: "),
    ],
)
@pytest.mark.usefixtures("handled")
def test_a_function_cannot_end_the_run(argument: str, error_of: Any, words: str) -> None:
    assert f"{argument}= raised {words}" in error(raises(error_of), argument)


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
