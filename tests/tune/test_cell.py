"""The runs of a cell are those that each would be alone, whether they go side by side or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import cities

import islands
from islands.backends.base import Backend
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem
from islands.spec.resolve import layers, resolve
from islands.spec.spec import RunSpec
from islands.spec.stop import KINDS
from islands.tune.cell import aims, goes_beside, run_cell

SETTINGS = {"islands": 2, "population": 20, "improver": "none", "seed": 5, "record.every": 10}
TOPOLOGIES = ("none", "ring")


def asked(topology: str) -> dict[str, Any]:
    stop = ["generations=40", "evaluations=1300"]
    return {**SETTINGS, "migration": topology, "interval": 10, "stop": stop}


def spec(problem: Problem, topology: str) -> RunSpec:
    return resolve(layers(asked(topology)), problem)


@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_the_costs_are_those_of_runs_alone(
    backend: Backend, topology: str, beside: bool, tmp_path: Path
) -> None:
    problem = cities(30, tmp_path)
    cell = run_cell(spec(problem, topology), problem, 3, backend, beside=beside)
    alone = [
        islands.solve(problem, backend=backend.name, **{**asked(topology), "seed": seed})
        for seed in (5, 6, 7)
    ]
    assert cell.costs == tuple(each.cost for each in alone)
    assert cell.evaluations == tuple(each.evaluations for each in alone)
    assert cell.reached == (False,) * 3
    assert cell.generations == pytest.approx(sum(each.generations for each in alone) / 3)
    assert cell.seconds > 0


def test_a_run_has_reached_what_it_had_to_or_has_not(backend: Backend, tmp_path: Path) -> None:
    problem = cities(12, tmp_path)
    stop = {"stop": ["target=36000", "generations=25"]}
    asked = {**SETTINGS, "migration": "none", "record.every": 5, **stop}
    cell = run_cell(resolve(layers(asked), problem), problem, 4, backend, beside=True)
    assert {*cell.reached} == {True, False}, "choose another target"
    for seed, cost, evaluations, reached in zip(
        range(5, 9), cell.costs, cell.evaluations, cell.reached, strict=True
    ):
        alone = islands.solve(problem, backend=backend.name, **{**asked, "seed": seed})
        assert (cost, evaluations) == (alone.cost, alone.evaluations)
        assert reached == (alone.cost <= 36000)
        assert reached == ("target" in alone.reason)


def test_what_says_how_good_a_run_is_to_be(tmp_path: Path) -> None:
    problem = cities(9, tmp_path)
    problem.best_known = BestKnown(7, "optimal", "a list")
    named = {kind: resolve(layers({"stop": each.example}), problem) for kind, each in KINDS.items()}
    assert [kind for kind, spec in named.items() if aims(spec)] == [
        *("target", "gap", "best-known", "optimum"),
    ]


def test_which_go_side_by_side(tmp_path: Path) -> None:
    problem = cities(9, tmp_path)
    apart, migrating = (spec(problem, topology) for topology in TOPOLOGIES)
    assert goes_beside(apart, 2)
    assert not goes_beside(apart, 1)
    assert goes_beside(migrating, 2)
    # Known tours are given to single runs alone.
    assert not goes_beside(replace(apart, start=("a.tour",)), 2)
