"""The plan of a tuning, and the runs of a task, which equal single runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from problems_for_tests import cities

import islands
import islands.configuration.resolve as resolving
from islands.backends.base import Backend
from islands.campaign.tuning import TuneRequest, Tuning, asked_of, run_task
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.errors import UsageError
from islands.parallel import World
from islands.problems import load
from islands.problems.base import Problem
from islands.run.build import islands_of


def test_either_all_runs_form_batches_or_none() -> None:
    asked = TuneRequest({"algorithm": "cellular", "population": 16, "migration": "none"})

    def tuning(over: str, runs: int) -> Tuning:
        return Tuning.of(asked, ["demo/qap"], [over], runs, configurations=1, steps=1)

    assert tuning("reset=0,5", 2).batched
    assert not tuning("reset=0,5", 1).batched
    assert not tuning("halo=false,true", 2).batched
    assert not tuning("halo=true", 2).batched


def test_runs_that_share_seconds_have_another_row() -> None:
    def keys(*stop: str) -> set[str]:
        asked = TuneRequest({"stop": list(stop)})
        (task, *_) = Tuning.of(asked, ["demo/qap"], ["reset=5"], 2, configurations=1).tasks
        return {json.dumps(asked_of(task, 2, batched=batched)) for batched in (True, False)}

    assert len(keys("generations=9")) == 1
    assert len(keys("generations=9", "seconds=5")) == 2


SETTINGS = {"islands": 2, "population": 20, "improver": "none", "seed": 5, "record.every": 10}


def asked(topology: str) -> dict[str, Any]:
    stop = ["generations=40", "evaluations=1300"]
    return {**SETTINGS, "migration": topology, "interval": 10, "stop": stop}


def spec(problem: Problem, topology: str) -> RunSpec:
    return resolve(layers(asked(topology)), problem)


@pytest.mark.parametrize(("topology", "batched"), [("ring", True), ("none", False)])
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


TSP = {"instance": "demo/tsp", "algorithm": "brkga", "population": 8, "islands": 3, "elite": 0.25}
TSP |= {"improver": "none", "migration": "ring"}
HALO = {
    "instance": "demo/qap",
    "algorithm": "cellular",
    "population": 8,
    "islands": 3,
    "halo": "true",
}
COLONIES = ["islands=1 algorithm=de", "islands=1 algorithm=tempering population=20"]
MKP = {"instance": "demo/mkp", "algorithm": "brkga", "population": 16, "islands": 2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**TSP, "migrants": 6}, None),
        ({**TSP, "migrants": 7}, "migrants"),
        ({**TSP, "migration": "elite", "migrants": 4}, "migrants"),
        ({**TSP, "elite": 0.1}, "elite=0.1"),
        ({**TSP, "decoding": "host", "improver": "swap"}, "decoding=host"),
        ({**HALO, "neighbours": 18}, "population=8"),
        ({**HALO, "migration": "ring"}, "migration ring"),
        ({**MKP, "decoding": "host"}, "decoding=host"),
        ({"instance": "demo/qap", "migration": "ring", "colonies": COLONIES}, "colony 1: pop"),
    ],
)
def test_the_checks_equal_those_of_the_islands(
    options: dict[str, Any], message: str | None, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, asked = load(options["instance"]), layers(options)
    with monkeypatch.context() as patched:
        patched.setattr(resolving, "require_possible", lambda *_: None)
        unchecked = resolve(asked, problem)
    refusals: list[str | None] = []
    for make in (
        lambda: resolve(asked, problem),
        lambda: islands_of(unchecked, problem, World(), backend),
    ):
        try:
            make()
            refusals.append(None)
        except UsageError as error:
            refusals.append(str(error))
    assert refusals[0] == refusals[1]
    assert (refusals[0] is None) == (message is None)
    assert (message or "") in (refusals[0] or "")
