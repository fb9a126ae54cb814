"""Criteria that read the progress of many runs in arrays decide as for each run alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from problems_for_tests import facilities, knapsack

from islands.archipelago.measure import MEASURE, NONE, Meaning
from islands.configuration.stop import CONVERGED, Criterion, parse
from islands.instances.catalogue import BestKnown
from islands.problems.mkp import MkpSettings
from islands.progress.standings import Standings
from islands.progress.tally import Tally, summarise

RUNS, ISLANDS, POPULATION = 300, 3, 8
CRITERIA = [
    *map(parse, ("generations=20", "seconds=3", "evaluations=300", "stagnation=9", "target=48")),
    *map(parse, ("gap=10%", "best-known")),
    Criterion(CONVERGED, 12, CONVERGED),
]


@pytest.mark.parametrize("is_marked", [False, True])
def test_each_criterion_is_met_by_the_same_runs(is_marked: bool) -> None:
    problem: Any = facilities(5)
    if is_marked:
        problem = knapsack(12, 2).adjusted(MkpSettings(infeasible="dynamic"))
    assert problem.scale.marks == is_marked
    problem.best_known = BestKnown(47, "best known", "a test")
    encoding: Any = SimpleNamespace(name="keys", like="", gene=np.dtype(np.float32), size=5)
    meaning = Meaning(problem, encoding, POPULATION)
    random = np.random.default_rng(9)
    measured = random.integers(0, 40, (RUNS, ISLANDS, len(MEASURE)))
    of = {name: measured[..., place] for place, name in enumerate(MEASURE)}
    for name in ("best", "archived"):
        of[name][:] = random.integers(44, 52, (RUNS, ISLANDS)) * (-1 if problem.maximise else 1)
        if is_marked:  # the lowest bit is that of infeasible costs
            of[name][:] <<= 1
        of[name][random.random((RUNS, ISLANDS)) < 0.4] = NONE
    of["calls"][:] = random.integers(0, 200, (RUNS, ISLANDS))
    of["distinct"][:] = random.integers(1, 3, (RUNS, ISLANDS))
    of["ended"][:] = random.integers(0, 2, (RUNS, ISLANDS))
    generation, seconds = random.integers(10, 40, RUNS), random.random(RUNS) * 4
    standings = Standings(meaning, measured, [problem] * RUNS, generation, seconds)
    for criterion in CRITERIA:
        met = criterion.met(standings)
        for run in range(RUNS):
            measures = meaning.measures(range(ISLANDS), measured[run].tolist())
            moment = int(generation[run]), float(seconds[run])
            progress = summarise(Tally.of(measures), *moment, POPULATION, problem)
            assert bool(met[run]) == criterion.met(progress), criterion.kind
        assert 0 < met.sum() < RUNS, criterion.kind
