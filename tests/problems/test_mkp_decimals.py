"""Knapsacks whose constraints have different numbers of decimals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_mkp import evaluate_choices, evaluated, random_choices
from problems_for_tests import knapsack

from islands.backends.base import Backend
from islands.errors import InputError
from islands.problems import load
from islands.problems.mkp import WAYS, Mkp, MkpSettings


@pytest.mark.parametrize("way", WAYS)
def test_constraints_may_have_different_decimals(backend: Backend, way: str) -> None:
    plain = knapsack(40, 4)
    file = replace(plain.file, unit=10, places=(2, 0, 5, 1))
    problem = Mkp(file, "decimals", settings=MkpSettings(infeasible=way))
    choices = random_choices(problem)
    seen, costs = evaluate_choices(backend, problem, choices, 32)
    for row, choice in enumerate(choices):
        wanted, cost = evaluated(problem, choice, 7, (row, 5 * (row % 2), row))
        assert costs[row] == cost
        np.testing.assert_array_equal(seen[row], wanted)


_PAIRS = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])


def _with_decimals(folder: Path, **settings: Any) -> Mkp:
    """Return three items; each pair exceeds two capacities, one of them with decimals."""
    path = folder / "decimals.dat"
    path.write_text("3 2 0\n5 7 2\n0.5 1.5 0.25\n2 3 4\n0.5 4\n")
    problem = load(str(path), "drake")
    assert isinstance(problem, Mkp)
    return problem.adjusted(MkpSettings(**settings))


def test_dynamic_adds_weights_in_units_of_the_file(backend: Backend, tmp_path: Path) -> None:
    problem = _with_decimals(tmp_path, infeasible="dynamic")
    _, costs = evaluate_choices(backend, problem, _PAIRS, 32)
    # Hundredths divided by profit: 2.00 + 5 over 12, 1.75 + 7 over 9, and 0.75 + 6 over 7.
    parts = [2**20 * 700 // 12 + 1, 2**20 * 875 // 9 + 1, 2**20 * 675 // 7 + 1]
    assert costs == [2 * each + 1 for each in parts]


def test_linear_penalises_excess_in_units_of_the_file(backend: Backend, tmp_path: Path) -> None:
    problem = _with_decimals(tmp_path, infeasible="linear", penalty=8.0)
    _, costs = evaluate_choices(backend, problem, _PAIRS, 32)
    # 8 per unit of excess: 1.50 + 1, 1.25 + 3, and 0.25 + 2; minus the profit.
    fined = [20 - 12, 34 - 9, 18 - 7]
    assert costs == [2 * each + 1 for each in fined]


def test_scaled_weights_that_may_overflow_are_refused(tmp_path: Path) -> None:
    def problem(weight: str, way: str) -> Mkp:
        (tmp_path / "a.dat").write_text(f"2 2 0\n5 6\n{weight} {weight}\n700 800\n0.5 900\n")
        read = load(str(tmp_path / "a.dat"), "drake")
        assert isinstance(read, Mkp)
        return read.adjusted(MkpSettings(infeasible=way))

    tiny = "0.000000000000001"
    message = r"a\.dat: all weights, scaled to integers, add up to 1500000000000000002,"
    with pytest.raises(InputError, match=message):
        problem(tiny, "dynamic")
    problem(tiny, "linear")
    problem(tiny, "drop")
    # Decimals of a capacity need no scaling if there are no weights.
    assert problem("0", "dynamic")._scales() == [0, 1]
