"""The runs of a task, in a batch or sequential, equal single runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import cities

import islands
from islands.backends.base import Backend
from islands.campaign.tuning import can_batch, quality_criteria, run_task
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.configuration.stop import CRITERIA
from islands.instances.catalogue import BestKnown
from islands.problems.base import Problem

SETTINGS = {"islands": 2, "population": 20, "improver": "none", "seed": 5, "record.every": 10}
TOPOLOGIES = ("none", "ring")


def asked(topology: str) -> dict[str, Any]:
    stop = ["generations=40", "evaluations=1300"]
    return {**SETTINGS, "migration": topology, "interval": 10, "stop": stop}


def spec(problem: Problem, topology: str) -> RunSpec:
    return resolve(layers(asked(topology)), problem)


@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_the_costs_equal_those_of_single_runs(
    backend: Backend, topology: str, batched: bool, tmp_path: Path
) -> None:
    problem = cities(30, tmp_path)
    result = run_task(spec(problem, topology), problem, 3, backend, batched=batched)
    alone = [
        islands.solve(problem, backend=backend.name, **{**asked(topology), "seed": seed})
        for seed in (5, 6, 7)
    ]
    assert result.costs == tuple(each.cost for each in alone)
    assert result.evaluations == tuple(each.evaluations for each in alone)
    assert result.reached == (False,) * 3
    assert result.generations == pytest.approx(sum(each.generations for each in alone) / 3)
    assert result.seconds > 0


def test_reached_tells_whether_a_run_met_its_target(backend: Backend, tmp_path: Path) -> None:
    problem = cities(12, tmp_path)
    stop = {"stop": ["target=36000", "generations=25"]}
    asked = {**SETTINGS, "algorithm": "brkga", "migration": "none", "record.every": 5, **stop}
    result = run_task(resolve(layers(asked), problem), problem, 4, backend, batched=True)
    assert {*result.reached} == {True, False}, "choose another target"
    for seed, cost, evaluations, reached in zip(
        range(5, 9), result.costs, result.evaluations, result.reached, strict=True
    ):
        alone = islands.solve(problem, backend=backend.name, **{**asked, "seed": seed})
        assert (cost, evaluations) == (alone.cost, alone.evaluations)
        assert reached == (alone.cost <= 36000)
        assert reached == ("target" in alone.reason)


def test_quality_criteria_depend_on_the_cost(tmp_path: Path) -> None:
    problem = cities(9, tmp_path)
    problem.best_known = BestKnown(7, "optimal", "a list")
    named = {
        kind: resolve(layers({"stop": each.example}), problem) for kind, each in CRITERIA.items()
    }
    assert [kind for kind, spec in named.items() if quality_criteria(spec)] == [
        *("target", "gap", "best-known", "optimum"),
    ]


def test_which_runs_can_form_a_batch(tmp_path: Path) -> None:
    problem = cities(9, tmp_path)
    apart, migrating = (spec(problem, topology) for topology in TOPOLOGIES)
    assert can_batch(apart, 2)
    assert not can_batch(apart, 1)
    assert can_batch(migrating, 2)
    # Only single runs accept start solutions.
    assert not can_batch(replace(apart, start=("a.tour",)), 2)
