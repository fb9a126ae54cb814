"""Small runs for processes of their own: `small_runs.py NAME` makes one, on two CPU threads."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from problems_for_tests import cities, facilities, knapsack

from islands.algorithms import ALGORITHMS
from islands.archipelago import Archipelago
from islands.backends import choose, cpu
from islands.improvers import ImproverSettings
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.base import Problem
from islands.problems.mkp_settings import MkpSettings


def _problem(name: str, folder: Path) -> Problem:
    if name == "tsp":
        return cities(17, folder)
    if name == "qap":
        return facilities(12, symmetric="neither", diagonal=True, largest=70_000)
    return knapsack(40, 5, largest=1 << 45).adjusted(MkpSettings(infeasible=name))


# A problem, or what is done with infeasible choices of one; algorithm, encoding, improver.
RUNS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "tsp": ("tsp", "brkga", "keys", {"name": "two_opt", "every": 2}),
    "qap": ("qap", "cellular", "permutation", {"name": "tabu", "aspiration": 9}),
    "exchange": ("repair", "de", "keys", {"name": "exchange22", "strategy": "best"}),
    "tabu": ("linear", "ga", "bits", {"name": "tabu", "core": 20}),
    "swarm": ("dynamic", "pso", "bits", {"name": "none"}),
}


def _run(name: str, folder: Path) -> None:
    of, algorithm, encoding, improver = RUNS[name]
    asked = {"reset": 2} | ({"elite": 0.2} if algorithm == "brkga" else {})
    settings = ALGORITHMS[algorithm].Settings.build(asked)
    drawn = {"topology": "random", "selection": "roulette", "replacement": "random"}
    made = Archipelago(
        problem=_problem(of, folder),
        algorithm=algorithm,
        encoding=encoding,
        settings=ALGORITHMS[algorithm].completed(settings, encoding),
        population=16,
        islands=3,
        seed=11,
        migration=MigrationSettings.build(drawn),
        backend=choose("cpu", 2),
        world=World(),
        improver=ImproverSettings.build(improver),
    )
    made.start()
    for _ in range(3):
        made.advance(3)
        made.migrate()
    made.measure()


if __name__ == "__main__":
    # What is looked for is there without the last optimisations, which take longest.
    cpu._OPTIONS = [option.replace("-O3", "-O1") for option in cpu._OPTIONS]
    with tempfile.TemporaryDirectory() as scratch:
        _run(sys.argv[1], Path(scratch))
