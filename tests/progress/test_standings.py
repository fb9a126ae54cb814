"""Criteria that read the progress of many runs in arrays decide as for each run alone."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import own_problems
import pytest
from numpy.typing import NDArray
from problems_for_tests import facilities, knapsack

from islands.archipelago.measure import MEASURE, NONE, Interpreter
from islands.configuration.stop import CONVERGED, Criterion, parse
from islands.instances.catalogue import BestKnown
from islands.problems import priced
from islands.problems.mkp import MkpSettings
from islands.problems.real_costs import ordered
from islands.progress.standings import BestCost, Standings
from islands.progress.tally import Tally, summarise

RUNS, ISLANDS, POPULATION = 300, 3, 8
CRITERIA = [
    *map(parse, ("generations=20", "seconds=3", "evaluations=300", "stagnation=9", "target=48")),
    *map(parse, ("gap=5%", "best-known", "optimum")),
    Criterion(CONVERGED, 12, CONVERGED),
]


def problem_of(kind: str) -> Any:
    if kind == "marked":
        return knapsack(12, 2).adjusted(MkpSettings(infeasible="dynamic"))
    made = {"real": own_problems.vector, "priced": own_problems.order_with_violation}
    return made[kind](5, np.random.default_rng(1)) if kind in made else facilities(5)


def on_device(costs: NDArray[np.int64], problem: Any, has_none: NDArray[np.bool_]) -> Any:
    """Return costs as on the device, of which some are those of no feasible solution."""
    if problem.scale.priced:
        return priced.compared(costs, has_none * 1.0, np.full(costs.shape, 3.0), real=False)
    if problem.scale.real:
        return ordered(np.where(has_none, np.inf, costs.astype(np.float64)))
    units = -costs if problem.maximise else costs
    units = units << 1 if problem.scale.marks else units  # the lowest bit: infeasible ones
    return np.where(has_none, NONE, units)


@pytest.mark.parametrize("kind", ["integers", "marked", "real", "priced"])
def test_each_criterion_is_met_by_the_same_runs(kind: str) -> None:
    problem = problem_of(kind)
    assert problem.scale.marks == (kind == "marked")
    problem.best_known = BestKnown(47, "optimal", "a test")
    encoding: Any = SimpleNamespace(name="keys", like="", gene=np.dtype(np.float32), size=5)
    interpreter = Interpreter(problem, encoding, POPULATION)
    random = np.random.default_rng(9)
    measured = random.integers(0, 40, (RUNS, ISLANDS, len(MEASURE)))
    of = {name: measured[..., place] for place, name in enumerate(MEASURE)}
    for name in ("best", "archived"):
        costs = random.integers(44, 52, (RUNS, ISLANDS))
        of[name][:] = on_device(costs, problem, random.random((RUNS, ISLANDS)) < 0.4)
    of["calls"][:] = random.integers(0, 200, (RUNS, ISLANDS))
    of["distinct"][:] = random.integers(1, 3, (RUNS, ISLANDS))
    of["ended"][:] = random.integers(0, 2, (RUNS, ISLANDS))
    generation, seconds = random.integers(10, 40, RUNS), random.random(RUNS) * 4
    problems = dict.fromkeys(range(RUNS - 1), problem)  # the last place has no run
    standings = Standings(interpreter, measured, problems, generation, seconds)
    for criterion in CRITERIA:
        met = criterion.met(standings)
        for run in range(RUNS - 1):
            measures = interpreter.measures(range(ISLANDS), measured[run].tolist(), "x")
            moment = int(generation[run]), float(seconds[run])
            progress = summarise(Tally.of(measures), *moment, POPULATION, problem)
            assert bool(met[run]) == criterion.met(progress), criterion.kind
            if criterion.is_target:
                assert criterion.reached_by(BestCost(problem, progress.cost)) == met[run]
        assert 0 < met.sum() < RUNS, criterion.kind
