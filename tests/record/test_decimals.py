"""Costs with decimals are integers of a smaller unit internally, and decimals in all output."""

import json
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import islands
from islands.configuration.stop import parse
from islands.problems.mkp import WAYS
from islands.problems.scale import Scale

PROFITS = ["8.7", "3.1", "5.4", "2.25", "9.9", "4.4", "6.15", "1.2"]
WEIGHTS, CAPACITY = [3, 2, 4, 1, 5, 2, 6, 1], 12
BEST = max(
    sum((Decimal(p) for p, chosen in zip(PROFITS, choice, strict=True) if chosen), Decimal())
    for choice in product((0, 1), repeat=8)
    if np.dot(choice, WEIGHTS) <= CAPACITY
)
FEW: dict[str, Any] = {"algorithm": "ga", "islands": 2, "population": 16, "interval": 5}
FEW |= {"backend": "cpu", "migration": "ring", "record": {"every": 5}}


@pytest.fixture
def problem(tmp_path: Path) -> islands.Problem:
    """Return a knapsack whose stated best profit is above the best one."""
    text = f"8 1 30.05\n{' '.join(PROFITS)}\n{' '.join(map(str, WEIGHTS))}\n{CAPACITY}\n"
    (tmp_path / "small.dat").write_text(text)
    return islands.load(tmp_path / "small.dat")


@pytest.mark.parametrize("digits", [1, 8, 15])
def test_numbers_of_up_to_15_digits_are_exact(digits: int) -> None:
    for unit in (10**places for places in range(1, digits + 1)):
        scale = Scale(unit=unit)
        drawn = np.random.default_rng(unit).integers(-(10**digits), 10**digits, 50)
        values = [scale.value_of(units) for units in drawn.tolist()]
        assert [Decimal(repr(each)) for each in values] == [
            Decimal(u) / unit for u in drawn.tolist()
        ]
        assert scale.value_of(drawn).tolist() == values


@pytest.mark.slow
def test_results_and_records_have_decimals(problem: islands.Problem, tmp_path: Path) -> None:
    result = islands.solve(problem, generations=30, out=tmp_path / "a", **FEW)
    assert Decimal(repr(result.cost)) == BEST
    assert json.loads(result.to_json())["best_known"] == 30.05
    assert result.gap == pytest.approx(100 * (1 - float(BEST) / 30.05))
    trace, migrations = result.trace(), result.migrations()
    assert [trace.schema.field(name).type for name in ("best", "worst")] == [pa.float64()] * 2
    for column in (trace["best"], trace["worst"], migrations["cost"]):
        assert len(column) > 0
        assert all(Decimal(repr(each)) % Decimal("0.05") == 0 for each in column.to_pylist())
    assert max(trace["best"].to_pylist()) == result.cost
    again = islands.resume(tmp_path / "a")
    assert again.to_json() == result.to_json()
    assert islands.resume(tmp_path / "a", generations=35).cost == result.cost


@pytest.mark.parametrize("way", WAYS)
def test_each_treatment_of_infeasible_subsets_finds_the_best(
    way: str, problem: islands.Problem
) -> None:
    stop = [f"target={BEST}", "generations=300"]
    result = islands.solve(problem, stop=stop, infeasible=way, **FEW)
    assert Decimal(repr(result.cost)) == BEST


@pytest.mark.parametrize(
    ("stop", "is_reached"),
    [
        (f"target={BEST}", True),
        (f"target={BEST + Decimal('0.01')}", False),
        (f"gap={100 * (1 - float(BEST) / 30.05) + 0.01}%", True),
        ("best-known", False),
    ],
)
def test_criteria_have_decimals(stop: str, is_reached: bool, problem: islands.Problem) -> None:
    result = islands.solve(problem, stop=[stop, "generations=60"], **FEW)
    assert ("60 generations" not in result.reason) is is_reached


@pytest.mark.parametrize("text", ["0.1", "8706.1", "123456789012.345", "-0.00001", "1e-5"])
def test_a_target_is_exactly_the_given_number(text: str) -> None:
    target = parse(f"target={text}").value
    assert Decimal(repr(target)) == Decimal(text)
