"""Knapsacks whose constraints have decimals, some more than others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mkp_evaluation import evaluate_choices, random_choices
from numpy_mkp import evaluated
from problems_for_tests import knapsack

from islands.backends.base import Backend
from islands.errors import InputError
from islands.problems import load
from islands.problems.mkp import Mkp
from islands.problems.mkp_settings import WAYS, MkpSettings


@pytest.mark.parametrize("way", WAYS)
def test_constraints_may_have_decimals_of_their_own(backend: Backend, way: str) -> None:
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
    """Return three items, of which each pair exceeds two capacities, one of them with decimals."""
    path = folder / "decimals.dat"
    path.write_text("3 2 0\n5 7 2\n0.5 1.5 0.25\n2 3 4\n0.5 4\n")
    problem = load(str(path), "drake")
    assert isinstance(problem, Mkp)
    return problem.adjusted(MkpSettings(**settings))


def test_dynamic_adds_up_weights_as_the_file_has_them(backend: Backend, tmp_path: Path) -> None:
    problem = _with_decimals(tmp_path, infeasible="dynamic")
    _, costs = evaluate_choices(backend, problem, _PAIRS, 32)
    # Hundredths, over profit: 2.00 + 5 over 12, 1.75 + 7 over 9, and 0.75 + 6 over 7.
    parts = [2**20 * 700 // 12 + 1, 2**20 * 875 // 9 + 1, 2**20 * 675 // 7 + 1]
    assert costs == [2 * each + 1 for each in parts]


def test_linear_prices_excess_as_the_file_has_it(backend: Backend, tmp_path: Path) -> None:
    problem = _with_decimals(tmp_path, infeasible="linear", penalty=8.0)
    _, costs = evaluate_choices(backend, problem, _PAIRS, 32)
    # 8 a unit of excess: 1.50 + 1, 1.25 + 3, and 0.25 + 2; less the profit.
    fined = [20 - 12, 34 - 9, 18 - 7]
    assert costs == [2 * each + 1 for each in fined]


def test_weights_that_could_overflow_in_one_unit_are_refused(tmp_path: Path) -> None:
    def problem(weight: str, way: str) -> Mkp:
        (tmp_path / "a.dat").write_text(f"2 2 0\n5 6\n{weight} {weight}\n700 800\n0.5 900\n")
        read = load(str(tmp_path / "a.dat"), "drake")
        assert isinstance(read, Mkp)
        return read.adjusted(MkpSettings(infeasible=way))

    tiny = "0.000000000000001"
    message = r"a\.dat: all weights, with all decimals scaled away, add up to 1500000000000000002,"
    with pytest.raises(InputError, match=message):
        problem(tiny, "dynamic")
    problem(tiny, "linear")
    problem(tiny, "drop")
    # Decimals of a capacity alone take no room where nothing weighs.
    assert problem("0", "dynamic")._scales() == [0, 1]
