"""Python functions that fail or return something else give one error that names the value."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.algorithms.tempering import Tempering
from islands.errors import RunError
from islands.modelling.functions import UserFunction, WorkerPool

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
        (lambda row: None, "function= returned None. Return one number"),
        (lambda row: "12", "function= returned '12'. Return one number"),
        (lambda row: 1j, "function= returned 1j. Return one number"),
        (lambda row: [1], "an array of shape (1,) and type int64. Return one number"),
        (lambda row: np.nan, "NaN for the solution [0, 1, 2, 3, 4, 5]. Return a number"),
        (lambda row: 2**70, "function= returned 1180591620717411303424: integer costs must be"),
        (lambda row: 2**63, "function= returned 9223372036854775808: integer costs must be"),
        (lambda row: -(2**63), "returned -9223372036854775808: integer costs must be"),
        (divides, "raised ZeroDivisionError: "),
        (changes, "changed the solutions that it was given. Work on a copy"),
    ],
)
def test_wrong_functions_of_one_solution(function: Any, message: str) -> None:
    assert message in error(function, "function")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rows: None, "batch= returned None. Return an array of 4 numbers"),
        (lambda rows: 1, "batch= returned 1. Return an array of 4 numbers"),
        (lambda rows: rows, "an array of shape (4, 6) and type int32. Return an array of 4"),
        (lambda rows: ["a"] * 4, "returned ['a', 'a', 'a', 'a']. Return an array of 4"),
        (lambda rows: [[1], [1, 2], 3, 4], "not an array of 4 numbers, one per solution"),
        (lambda rows: np.full(4, np.nan), "batch= returned NaN for the solution [0, 1, 2"),
        (lambda rows: np.full(4, 2**63, np.uint64), "integer costs must be from -2**62"),
        (lambda rows: rows.nothing, "raised AttributeError: "),
    ],
)
def test_wrong_functions_of_many_solutions(function: Any, message: str) -> None:
    assert message in error(function, "batch")


def test_the_solution_with_nan_is_shown() -> None:
    rows = np.array([np.roll(np.arange(3), k) for k in range(3)], np.int32)
    with pytest.raises(RunError, match=r"NaN for the solution \[2, 0, 1\]"):
        UserFunction("batch", lambda _: [1.0, np.nan, 2.0]).costs(rows, real=None)


def test_the_error_shows_the_line_of_the_function() -> None:
    said = error(divides, "function")
    assert "test_functions.py" in said
    assert "'return 1 // (int(row[0]) * 0)'" in said


def test_integers_after_a_first_integer_cost_stay_integers() -> None:
    assert "real costs, such as 1.5" in error(lambda row: 1.5, "function", real=False)
    costs = UserFunction("function", lambda row: 2).costs(ORDERS, real=True)
    assert costs.dtype == np.float64


@pytest.mark.parametrize(("maximise", "best"), [(False, -np.inf), (True, np.inf)])
def test_an_infinite_cost_better_than_all_others_is_refused(maximise: bool, best: float) -> None:
    problem = islands.permutation(N, function=lambda row: best, maximise=maximise)
    with pytest.raises(RunError, match=f"a cost is {best}, better than any other"):
        islands.solve(problem, algorithm="ga", backend="cpu", stop="generations=2")


def test_infinite_costs_of_infeasible_solutions_are_allowed() -> None:
    problem = islands.permutation(
        N, function=lambda row: np.inf if row[0] < 3 else float(row[1]), name="half"
    )
    result = islands.solve(problem, algorithm="ga", backend="cpu", stop="generations=20", seed=1)
    assert result.cost == 0
    assert result.solution[0] >= 3


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


@pytest.mark.parametrize("argument", ["function", "batch", "reference"])
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (leaves, "SystemExit: 0"),
        (leaves_with_words, "SystemExit: enough"),
        (interrupts, "KeyboardInterrupt: "),
    ],
)
@pytest.mark.usefixtures("handled")
def test_a_function_cannot_end_the_run(function: Any, said: str, argument: str) -> None:
    words = error(function, argument)
    assert f"{argument}= raised {said}" in words
    assert "test_functions.py" in words
    assert "To refuse a solution, return infinity" in words


def test_an_interrupt_by_ctrl_c_is_none_of_the_function() -> None:
    with pytest.raises(KeyboardInterrupt):
        UserFunction("function", interrupts).costs(ORDERS, real=None)


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


@pytest.mark.parametrize("function", [leaves, interrupts])
def test_a_run_whose_function_ends_the_process_fails(function: Any) -> None:
    def cost(row: Any) -> float:
        called.append(1)
        return function(row) if len(called) > 20 else 1.0

    called = list[int]()
    problem = islands.permutation(N, function=cost, name="ends")
    with pytest.raises(RunError, match=r"function= raised (SystemExit|KeyboardInterrupt)"):
        islands.solve(problem, algorithm="ga", backend="cpu", threads=1, stop="generations=5")


COST = """
__device__ double cost(const Solution& s, int n, const Data& data) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += exact::exp(s[i]) * exact::sin(s[i]);
    return sum;
}
"""


@pytest.mark.parametrize("mutation", ["polynomial", "gaussian"])
def test_a_cost_and_a_mutation_share_exact_functions(mutation: str) -> None:
    problem = islands.real(
        -3, 3, 4, cost=COST, reference=lambda x: (np.exp(x) * np.sin(x)).sum(axis=1)
    )
    few = {"generations": 20, "islands": 2, "population": 32, "backend": "cpu"}
    result = islands.solve(problem, algorithm="ga", mutation=mutation, **few)
    assert result.cost == pytest.approx(problem.cost(result.solution), rel=1e-9)


def test_a_cost_that_is_true_or_false_is_refused() -> None:
    assert "which is true or false and no cost" in error(lambda row: row[0] > 3, "function")
    assert "which is true or false and no cost" in error(lambda rows: rows[:, 0] > 3, "batch")


_AGAIN = """
import islands

with open("times.txt", "a") as file:
    file.write("x")
secret = 7


def cost(order):
    return float(order[0]) + secret


result = islands.solve(
    islands.permutation(5, function=cost), algorithm="ga", generations=3, threads=2, backend="cpu"
)
assert result.cost == 7.0
"""


def test_a_script_with_function_runs_once(tmp_path: Path) -> None:
    """Each process that called the function imported the script, which ran its statements again."""
    (tmp_path / "own.py").write_text(_AGAIN)
    subprocess.run([sys.executable, "own.py"], cwd=tmp_path, check=True)
    assert (tmp_path / "times.txt").read_text() == "x"


def test_processes_call_a_function_of_any_place() -> None:
    me = os.getpid()

    def cost(order: Any) -> float:
        return float(order[0]) if os.getpid() == me else float(order[0]) + 0.0

    own = islands.permutation(5, function=cost)
    assert own.evaluation.python is not None
    with own.evaluation.python.prepared(2) as words:
        assert words == "costs by function=, called by 2 processes"
        assert own.evaluation.python.costs(ORDERS[:, :5]).tolist() == [0.0] * 4


@pytest.mark.parametrize("quick", [0, 5, 64])
def test_solutions_of_a_fast_function_share_messages(
    quick: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cost(order: Any) -> int:
        time.sleep(0.002)
        return int(order[0])

    orders = np.array(list(permutations(range(5))))[:20]
    with WorkerPool(UserFunction("function", cost), 2) as pool:
        sent: list[int] = []
        submit = pool._pool.submit

        def counted(work: Any, part: Any, real: Any) -> Any:
            sent.append(len(part))
            return submit(work, part, real)

        monkeypatch.setattr(pool._pool, "submit", counted)
        pool.quick = quick
        assert pool.costs(orders, real=False).tolist() == orders[:, 0].tolist()
    expected = {0: [3] * 6 + [2], 5: [5] * 4, 64: [20]}
    assert sent == expected[quick]
    assert pool.quick == 0


def test_costs_in_python_have_as_few_replicas_on_a_gpu_as_on_a_cpu() -> None:
    problem = islands.permutation(8, function=lambda order: int(order[0]))
    on_cpu = Tempering.defaults(problem, 1.0, lambda: 0)
    assert Tempering.defaults(problem, 1.0, lambda: 1) == on_cpu
