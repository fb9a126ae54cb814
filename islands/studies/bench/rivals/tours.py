"""Programs for tours: LKH, and the routing solver of OR-Tools."""

import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from islands.problems.base import Problem
from islands.problems.legs import Legs
from islands.problems.tsp import Tsp
from islands.studies.bench.quality_runs import Course
from islands.studies.bench.rivals.base import Answer, Rival

_MOST_IN_MATRIX = 3000
"""Maximum number of cities for a program that needs a matrix of all distances."""
_METRICS = ("EUC_2D", "CEIL_2D", "ATT", "GEO")
"""Metrics with which LKH accepts coordinates."""


class TourRival(Rival):
    """A program for tours."""

    largest: ClassVar[str] = "accepts at most {} cities here"

    def rejection(self, problem: Problem) -> str | None:
        """Reject problems other than tours, and tours that need a large matrix of distances."""
        if not isinstance(problem, Tsp):
            return super().rejection(problem)
        near = problem.near
        if isinstance(near, Legs):
            if near.file.ends is not None or bool((near.legs < 0).any()):
                return "accepts only closed tours here, without forbidden legs"
            if near.file.fixed:
                return "accepts no fixed legs here"
        if not problem.scale.is_whole:
            return 'accepts only whole lengths here, such as those of metric="EUC_2D"'
        if self.needs_matrix(problem) and problem.entries > _MOST_IN_MATRIX:
            return self.largest.format(_MOST_IN_MATRIX)
        return None

    def needs_matrix(self, tsp: Tsp) -> bool:
        """Return whether the program needs all distances."""
        return True

    def given(self, problem: Problem) -> Any:
        """Return the problem itself."""
        return problem if isinstance(problem, Tsp) else None


class OrTools(TourRival, of="ortools"):
    """The routing solver of OR-Tools on tours: guided local search, as its guide recommends.

    One vehicle visits all cities. The seed determines the city where the tour begins.
    """

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Run the search once."""
        from ortools.constraint_solver import pywrapcp, routing_enums_pb2

        assert isinstance(problem, Tsp)
        n = problem.size
        cities = np.arange(n)
        matrix = [problem.near.between(np.full(n, city), cities).tolist() for city in cities]
        manager = pywrapcp.RoutingIndexManager(n, 1, seed % n)
        course = Course(maximise=False)
        routing = pywrapcp.RoutingModel(manager)
        routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(matrix))

        def see() -> None:
            cost, known = int(routing.CostVar().Max()), problem.best_known
            course.add_now(cost)
            if known is not None and cost <= known.value:
                routing.solver().FinishCurrentSearch()

        routing.AddAtSolutionCallback(see)
        options = pywrapcp.DefaultRoutingSearchParameters()
        first = routing_enums_pb2.FirstSolutionStrategy
        options.first_solution_strategy = first.PATH_CHEAPEST_ARC
        guided = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
        options.local_search_metaheuristic = guided
        options.time_limit.FromMilliseconds(max(1, int(1000 * seconds)))
        assignment = routing.SolveWithParameters(options)
        elapsed = course.passed()
        if assignment is None:
            return Answer((), None, elapsed)
        index, tour = routing.Start(0), []
        while not routing.IsEnd(index):
            tour.append(manager.IndexToNode(index))
            index = assignment.Value(routing.NextVar(index))
        cost = problem.cost(np.array(tour))
        course.add(elapsed, cost)
        return Answer(course.points, tour, elapsed)


_TRIALS = 1_000_000_000
"""More trials than any time limit allows."""
_LONGEST_DIRECTED = 10_000_000
"""Maximum length of directed legs, which LKH multiplies by 100 as 32-bit integers."""
_READY = re.compile(r"Preprocessing time = ([\d.]+)")
_BETTER = re.compile(r"\*.*?Cost = (\d+).*?Time = ([\d.]+)")


class Lkh(TourRival, of="lkh"):
    """LKH, the local search of Helsgaun for tours, with its usual settings, through elkai.

    It makes one run with as many trials as the time allows. The documented elkai functions have
    neither a time limit nor a seed, so the internal function is called, which accepts all
    LKH parameters. LKH counts processor time, and checks the limit after each trial.
    """

    def rejection(self, problem: Problem) -> str | None:
        """Also reject directed legs that are too long."""
        near = problem.near if isinstance(problem, Tsp) else None
        if (
            isinstance(near, Legs)
            and near.chains.are_directed
            and int(near.legs.max()) > _LONGEST_DIRECTED
        ):
            return f"accepts directed legs up to {_LONGEST_DIRECTED} here"
        return super().rejection(problem)

    def needs_matrix(self, tsp: Tsp) -> bool:
        """Return whether LKH reads all distances instead of coordinates."""
        return isinstance(tsp.near, Legs) or tsp.near.metric not in _METRICS

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Run LKH until the time limit; its first trial is always completed."""
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
            cities = _elkai.solve_problem("\n".join(parameters) + "\n", text)
            elapsed = time.perf_counter() - began
            printed = output.read_text(errors="replace")
        tour = [city - 1 for city in cities]
        course = _course(printed)
        cost = problem.cost(np.array(tour))
        if not course or course[-1][1] != cost:
            course.append((elapsed, cost))
        return Answer(course, tour, elapsed)


def _tsplib(problem: Tsp) -> str:
    """Return the instance in TSPLIB's format."""
    near, count = problem.near, problem.entries
    is_directed = isinstance(near, Legs) and near.chains.are_directed
    kind = "ATSP" if is_directed else "TSP"
    head = [f"NAME : {count}", f"TYPE : {kind}", f"DIMENSION : {count}"]
    if not isinstance(near, Legs) and near.metric in _METRICS:
        places = problem.file.coordinates
        assert places is not None
        lines = [f"{city} {x!r} {y!r}" for city, (x, y) in enumerate(places.tolist(), 1)]
        head += [f"EDGE_WEIGHT_TYPE : {near.metric}", "NODE_COORD_SECTION"]
        return "\n".join([*head, *lines, "EOF", ""])
    cities = np.arange(count)
    rows = [near.between(np.full_like(cities, city), cities).tolist() for city in cities]
    head += ["EDGE_WEIGHT_TYPE : EXPLICIT", "EDGE_WEIGHT_FORMAT : FULL_MATRIX"]
    lines = [" ".join(map(str, row)) for row in rows]
    return "\n".join([*head, "EDGE_WEIGHT_SECTION", *lines, "EOF", ""])


def _course(output: str) -> list[tuple[float, float]]:
    """Return the times and improved costs that LKH prints; its clock begins after preprocessing."""
    before, points = 0.0, list[tuple[float, float]]()
    for line in output.splitlines():
        if ready := _READY.search(line):
            before = float(ready[1])
        elif better := _BETTER.search(line):
            points.append((before + float(better[2]), int(better[1])))
    return points


@contextmanager
def _printed() -> Iterator[Path]:
    """Redirect the standard output of this process to a file; LKH flushes it at each line."""
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
