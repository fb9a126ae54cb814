"""LKH, the local search of Helsgaun for tours, through the package elkai.

The functions that elkai documents take a number of runs and no seed. The one below them takes the
parameters of LKH, among them a time limit and a seed, so that LKH can use its time as it was meant.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import numpy as np

from islands.bench.rivals.base import Answer, Rival
from islands.problems.base import Problem
from islands.problems.tsp import Tsp

_TRIALS = 1_000_000_000
"""More than any time limit allows."""
_METRICS = ("EUC_2D", "CEIL_2D", "ATT", "GEO")
_MOST_IN_MATRIX = 3000
_READY = re.compile(r"Preprocessing time = ([\d.]+)")
_BETTER = re.compile(r"\*.*?Cost = (\d+).*?Time = ([\d.]+)")


class Lkh(Rival):
    """LKH with its usual settings: one run with as many trials as the time allows.

    It counts processor time, and looks at the clock after each trial.
    """

    name: ClassVar[str] = "lkh"
    package: ClassVar[str] = "elkai"
    module: ClassVar[str] = "elkai"

    def refusal(self, problem: Problem) -> str | None:
        """Refuse other problems than tours, and large matrices, whose text LKH would read."""
        if not isinstance(problem, Tsp):
            return "solves tours only"
        if problem.near.metric not in _METRICS and problem.size > _MOST_IN_MATRIX:
            return f"takes matrices of at most {_MOST_IN_MATRIX} cities here"
        return None

    def solve(self, problem: Problem, seed: int, seconds: float) -> Answer:
        """Run LKH until the time limit; its first trial ends in any case."""
        from elkai import _elkai

        assert isinstance(problem, Tsp)
        known = problem.best_known
        parameters = [
            "PROBLEM_FILE = :stdin:",
            "RUNS = 1",
            f"MAX_TRIALS = {_TRIALS}",
            f"SEED = {seed}",
            f"TIME_LIMIT = {seconds:.3f}",
            "TRACE_LEVEL = 1",
            *([f"OPTIMUM = {known.value}"] if known is not None else []),
        ]
        text = _tsplib(problem)
        with _printed() as output:
            began = time.perf_counter()
            found = _elkai.solve_problem("\n".join(parameters) + "\n", text)
            taken = time.perf_counter() - began
            printed = output.read_text(errors="replace")
        tour, course = [city - 1 for city in found], _course(printed)
        cost = problem.cost(np.array(tour))
        if not course or course[-1][1] != cost:
            course.append((taken, cost))
        return Answer(course, tour, taken)


def _tsplib(problem: Tsp) -> str:
    """Return the instance in TSPLIB's format."""
    head = [f"NAME : {problem.size}", "TYPE : TSP", f"DIMENSION : {problem.size}"]
    if problem.near.metric in _METRICS:
        places = problem.file.coordinates
        assert places is not None
        lines = [f"{city} {x!r} {y!r}" for city, (x, y) in enumerate(places.tolist(), 1)]
        head += [f"EDGE_WEIGHT_TYPE : {problem.near.metric}", "NODE_COORD_SECTION"]
        return "\n".join([*head, *lines, "EOF", ""])
    cities = np.arange(problem.size)
    rows = [problem.near.between(np.full_like(cities, city), cities).tolist() for city in cities]
    head += ["EDGE_WEIGHT_TYPE : EXPLICIT", "EDGE_WEIGHT_FORMAT : FULL_MATRIX"]
    lines = [" ".join(map(str, row)) for row in rows]
    return "\n".join([*head, "EDGE_WEIGHT_SECTION", *lines, "EOF", ""])


def _course(output: str) -> list[tuple[float, float]]:
    """Return the costs that LKH marks as better; the clock of a run begins after preprocessing."""
    before, found = 0.0, list[tuple[float, float]]()
    for line in output.splitlines():
        if ready := _READY.search(line):
            before = float(ready[1])
        elif better := _BETTER.search(line):
            found.append((before + float(better[2]), int(better[1])))
    return found


@contextmanager
def _printed() -> Iterator[Path]:
    """Let this process print to a file, which LKH flushes at each line."""
    kept = os.dup(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "output"
        with path.open("wb") as stream:
            os.dup2(stream.fileno(), 1)
        try:
            yield path
        finally:
            os.dup2(kept, 1)
            os.close(kept)
