"""A check finds wrong functions of a model; it names the line, array and index."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from models_for_tests import cost_text, delta_text, repair_text
from problems_for_tests import knapsack

import islands
from islands.check.contained import run_contained
from islands.check.perform import agree, drawn, examine
from islands.check.ways import moved, random_ends
from islands.errors import RunError
from islands.problems.mkp import MkpSettings

N = 20
DATA = {"t": np.arange(N, dtype=np.int32), "limit": 3}
FIRST = cost_text("    return s[0];")


def order(body: str, kind: str = "long long", **more: Any) -> Any:
    return islands.permutation(N, cost=cost_text(body, kind), data=DATA, name="own", **more)


def difference(problem: Any, **options: Any) -> str:
    found = examine(problem, 30, **options)
    assert not found.works
    return found.difference


@pytest.fixture(scope="module", autouse=True)
def _needs_sanitizer() -> None:
    problem = islands.permutation(2, cost=FIRST)
    solutions = drawn(problem, 1, 1)
    if not run_contained(problem, solutions, random_ends(1, 0, 2, 1), 10).sanitized:
        pytest.skip("the C++ compiler has no AddressSanitizer")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("for (int i = 0; i <= n; ++i) c += data.t[i];", 3, "reads data.t[20], but its length"),
        ("c = data.t[2000000000];", 3, "reads data.t[2000000000], but its length is 20 (0 to 19)"),
        ("const int* own = data.t + 2;\n c = own[-5];", 4, "reads data.t[-3]"),
        ("const auto* own = data.t;\n own += 20;\n c = *own;", 5, "reads data.t[20]"),
        ("c = data.t[s[n]];", 3, "reads s[20], but its length is 20"),
        ("c = s[-1];", 3, "reads s[-1]"),
        ("int d[4] = {};\n for (int i = 0; i < n; ++i) d[i] = i;\n c = d[2];", 4, "out of bounds"),
        ("c = 7 / (s[0] - s[0]);", 3, "division by zero"),
        ("c = 1LL << 62;\n c += c * (s[0] >= 0);", 4, "signed integer overflow"),
    ],
)
def test_faults_on_the_device_name_line_and_index(body: str, line: int, message: str) -> None:
    found = difference(order(f"long long c = 0;\n{body}\nreturn c;"))
    assert f"cost.cu, line {line}, " in found
    assert message in found


@pytest.mark.slow
def test_a_subset_read_outside_is_found() -> None:
    problem = islands.subset(40, cost=cost_text("return s[64];"))
    assert "reads s[64] or an item near it" in difference(problem)


@pytest.mark.slow
def test_a_cost_that_does_not_return_is_stopped() -> None:
    problem = order("volatile unsigned k = 0;\nwhile (s[0] >= 0) k = k + 1;\nreturn k;")
    assert "did not return within 0.5 s" in difference(problem, seconds=0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (lambda: order("return s[0];", reference=lambda s: s[:, 1]), "by reference, but"),
        (lambda: order("return s[0] == 3 ? NAN : 1.0;", "double"), "is not a number"),
        (lambda: order("return s[0] == 3 ? -INFINITY : 1.0;", "double"), "better than any other"),
        (lambda: order("static int k = 0;\nreturn k++;"), "in reverse order"),
        (
            lambda: islands.permutation(N, batch=lambda s: np.arange(len(s))),
            "by batch, NumPy with the solutions in reverse order",
        ),
        (
            lambda: islands.permutation(
                N, cost=FIRST, delta=delta_text("return s[move.v] - s[move.u] + (move.u > 0);")
            ),
            "delta of swap, CPU: {",
        ),
        (
            lambda: islands.subset(N, cost=FIRST, repair=repair_text("s.set(0, 1 - s[0]);")),
            "it must not change a repaired solution",
        ),
        (
            lambda: islands.permutation(N, cost=FIRST, repair=repair_text("s.set(0, s[1]);")),
            "which is not a permutation of 0 to n - 1",
        ),
    ],
)
def test_differences_between_functions_are_found(problem: Callable[[], Any], message: str) -> None:
    found = problem()
    assert message in difference(found)
    with pytest.raises(RunError) as raised:
        islands.check_problem(found, samples=30)
    assert str(raised.value).startswith(f"{found.instance}: ")


@pytest.mark.slow
def test_a_correct_delta_and_repair_have_no_differences() -> None:
    good = islands.permutation(
        N, cost=FIRST, delta=delta_text("return move.u == 0 ? s[move.v] - s[0] : 0;"), maximise=True
    )
    assert examine(good, 30).works
    repair = repair_text("if (s[0] < 0.0) s.set(0, 0.5);")
    boxed = islands.real(-1, 2, 5, cost=cost_text("return s[0];", "double"), repair=repair)
    (row,) = [row for row in examine(boxed, 30).rows if row.way == "repair, CPU"]
    assert row.outcome.startswith("30 valid and stable")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["repair", "drop", "linear", "dynamic"])
def test_built_in_knapsacks_have_no_differences(way: str) -> None:
    assert examine(knapsack(40, 4).adjusted(MkpSettings(infeasible=way)), 40).works


@pytest.mark.slow
def test_a_check_needs_no_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr("islands.backends.find_spec", lambda name: None)
    checked = examine(order("return s[0];"), 5)
    assert checked.works
    assert "not checked on a GPU: CuPy is not installed" in checked.notes


def test_moves_are_those_of_lists() -> None:
    ends = random_ends(50, 4, 7, seed=1)
    assert (ends[..., 0] < ends[..., 1]).all()
    assert ends.min() == 0
    assert ends.max() == 6
    row = np.arange(7)[np.newaxis]
    for u, v in ends.reshape(-1, 2).tolist():
        one = np.array([[u, v]], np.int32)
        items = list(range(7))
        swapped = items.copy()
        swapped[u], swapped[v] = swapped[v], swapped[u]
        assert moved(row, one, "swap").tolist() == [swapped]
        reversal = items[:u] + items[u : v + 1][::-1] + items[v + 1 :]
        assert moved(row, one, "reversal").tolist() == [reversal]
        inserted = items[:u] + items[u + 1 : v + 1] + [items[u]] + items[v + 1 :]
        assert moved(row, one, "insertion").tolist() == [inserted]


INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("one", "other", "size", "is_same"),
    [
        (1.0, 1.0 + 1e-12, 0.0, True),
        (1.0, 1.0 + 1e-8, 0.0, False),
        (1.0, 1.0 + 1e-8, 1e3, True),  # terms of this size were added
        (0.0, 1e-10, 0.0, True),
        (1e20, 1.0000000001e20, 0.0, True),
        (-INF, -INF, 0.0, True),
        (INF, -INF, 0.0, False),
        (INF, 1.0, 0.0, False),
        (1.0, INF, INF, False),
        (NAN, NAN, 0.0, False),
    ],
)
def test_real_costs_agree_if_they_are_near_and_finite_or_equal(
    one: float, other: float, size: float, is_same: bool
) -> None:
    for first, second in ((one, other), (other, one)):
        found = agree(np.array([first]), np.array([second]), real=True, size=size)
        assert found.tolist() == [is_same]


def test_integer_costs_must_be_equal() -> None:
    costs = np.array([2**62, 5])
    assert agree(costs, costs - [1, 0], real=False).tolist() == [False, True]
