"""The message that a search stands still."""

from __future__ import annotations

from dataclasses import replace

import pytest

import islands
from islands.display.standstill import Standstill, advice, cure
from islands.progress.progress import Progress
from islands.solver import Solver

EARLY = Progress(10, 1000, 2.0, cost=7, island=0, best_generation=10, mean=8.0)


def after(seconds: float, cost: float | None = 7, gap: float | None = None) -> Progress:
    evaluations = int(1000 * seconds)
    return replace(EARLY, seconds=seconds, evaluations=evaluations, cost=cost, gap=gap)


def said(*progress: Progress) -> list[str]:
    standstill = Standstill("patience", "Raise it")
    return [words for each in progress if (words := standstill.words(each))]


def test_a_long_standstill_is_said_once() -> None:
    found = said(EARLY, after(11), after(13), after(14), after(90))
    assert found == ["no better cost for 12.0k evaluations (11 s): try patience"]


@pytest.mark.parametrize(
    "last",
    [after(11.0), after(60.0, cost=6), after(60.0, gap=0.0)],
    ids=["short", "better", "optimal"],
)
def test_other_runs_say_nothing(last: Progress) -> None:
    assert said(EARLY, last) == []


def test_a_run_without_a_feasible_solution_says_so_after_a_second() -> None:
    assert said(after(0.9, cost=None)) == []
    found = said(after(0.9, cost=None), after(1.5, cost=None), after(60, cost=None), after(61))
    assert found == ["no feasible solution in 1.5k evaluations. Raise it"]


def test_what_helps_depends_on_the_problem() -> None:
    code = "__device__ double cost(const Solution& s, int n, const Data& data) { return s[0]; }"
    assert cure(islands.permutation(4, cost=code)).startswith("All costs were infinite")
    ruled = islands.permutation(4, cost=code, violation=code.replace("cost", "violation"))
    assert cure(ruled).startswith("Check that violation can be 0")


def test_a_late_best_waits_for_as_long() -> None:
    late = after(50)
    assert said(EARLY, replace(late, cost=6), replace(after(90), cost=6)) == []
    assert said(EARLY, replace(late, cost=6), replace(after(201), cost=6)) != []


def test_the_advice_is_what_differs_from_the_run() -> None:
    code = "__device__ long long cost(const Solution& s, int n, const Data& data) { return s[0]; }"
    problem = islands.permutation(4, cost=code)
    by_default = Solver(problem, backend="cpu").spec
    other = Solver(problem, algorithm="ga", backend="cpu").spec
    assert advice(other, problem).startswith('algorithm="tempering", or more islands')
    assert advice(by_default, problem) == (
        "more islands (islands=16), or a state, which judges moves in a few steps (state=)"
    )
