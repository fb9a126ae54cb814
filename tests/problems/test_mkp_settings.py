"""Settings of the knapsack problem, and penalties in the units of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from problems_for_tests import knapsack

import islands
from islands.errors import InputError, UsageError
from islands.problems import load
from islands.problems.mkp import WAYS, Mkp, MkpSettings


def test_penalties_do_not_depend_on_the_number_of_decimals(tmp_path: Path) -> None:
    texts = {
        "whole.dat": "4 2 0\n61 50 40 30\n3 4 5 6\n7 2 3 1\n9 8\n",
        "tenths.dat": "4 2 0\n6.1 5.0 4.0 3.0\n0.3 0.4 0.5 0.6\n7 2 3 1\n0.9 8\n",
    }
    costs = []
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        problem = load(str(tmp_path / name), "drake")
        assert isinstance(problem, Mkp)
        # Profits and the weights of the first constraint are ten times as large.
        prices = problem.adjusted(MkpSettings(infeasible="linear", penalty=20.0)).prices()
        costs.append(prices.tolist())
    assert costs == [[20.0, 20.0], [20.0, 200.0]]


def test_settings_without_effect_are_refused() -> None:
    with pytest.raises(UsageError, match=r"penalty=3.*infeasible=linear, but infeasible is repair"):
        MkpSettings.build({"penalty": 3.0})
    with pytest.raises(UsageError, match=r"utilities=scaled.*infeasible=repair"):
        MkpSettings.build({"infeasible": "drop", "utilities": "scaled"})
    with pytest.raises(
        UsageError, match=r"fit_first=true.*infeasible=linear or dynamic, but infeasible is repair"
    ):
        MkpSettings.build({"fit_first": True})
    with pytest.raises(UsageError, match=r"orders=2.*infeasible=repair"):
        MkpSettings.build({"infeasible": "dynamic", "orders": 2})


def test_penalties_that_may_overflow_are_refused() -> None:
    problem = knapsack(2, 20, largest=1 << 58)
    problem.adjusted(MkpSettings(infeasible="drop"))
    with pytest.raises(InputError, match=r"all weights add up to .*Choose infeasible=repair"):
        problem.adjusted(MkpSettings(infeasible="linear"))


@pytest.mark.parametrize("items", [1, 256, 257, 70_000])
@pytest.mark.parametrize("way", WAYS)
def test_orders_have_the_type_that_kernels_expect(items: int, way: str) -> None:
    kept = {"orders": 3, "utilities": "scaled"} if way == "repair" else {}
    problem = knapsack(items, 1).adjusted(MkpSettings(infeasible=way, **kept))
    *_, ranks = problem.arrays()
    types = {1: "unsigned char", 2: "unsigned short", 4: "int32_t"}
    assert problem.defines()["MKP_RANK"] == types[ranks.dtype.itemsize]
    assert problem.defines()["MKP_ORDERS"] == str(len(ranks))


def test_core_needs_an_order_by_utility() -> None:
    improver = {"name": "exchange", "core": 5}
    for way in ("drop", "linear", "dynamic"):
        with pytest.raises(UsageError, match=r"improver.core=5: .*infeasible=repair"):
            islands.solve(knapsack(9, 2), infeasible=way, improver=improver, backend="cpu")


@pytest.mark.parametrize(
    ("items", "constraints", "population", "islands_of_all", "reset", "every"),
    [
        (50, 5, 64, 256, 500, 10),
        (500, 30, 64, 256, 500, 10),
        (1500, 15, 256, 16, 1500, 2),
        (2500, 100, 512, 8, 2500, 2),
        (9000, 5, 512, 8, 5000, 2),
    ],
)
def test_default_settings_are_those_of_the_measurements(
    items: int, constraints: int, population: int, islands_of_all: int, reset: int, every: int
) -> None:
    found = knapsack(items, constraints).defaults()
    sizes = {"population": population, "islands": islands_of_all}
    assert found.items() >= {**sizes, "reset": reset, "record.every": every}.items()
    improver = {"name": "exchange22", "strategy": "best", "core": 60, "every": 100, "rate": 0.1}
    assert found.items() >= {f"improver.{name}": value for name, value in improver.items()}.items()
    chosen = {"algorithm": "ga", "encoding": "bits", "strength": 2, "migration.topology": "none"}
    assert found.items() >= chosen.items()
