"""The routing solver of OR-tools on tours: guided local search, as its guide recommends."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np

from islands.bench.rivals.base import Answer, Rival
from islands.problems.base import Problem
from islands.problems.tsp import Tsp

_MOST_CITIES = 3000


class OrTools(Rival):
    """One vehicle that visits all cities. The seed is the number of the city where it begins."""

    name: ClassVar[str] = "ortools"
    package: ClassVar[str] = "ortools"
    module: ClassVar[str] = "ortools"

    def refusal(self, problem: Problem) -> str | None:
        """Refuse other problems than tours, and large ones: it needs a matrix of all distances."""
        if not isinstance(problem, Tsp):
            return "solves tours only"
        if problem.size > _MOST_CITIES:
            return f"takes at most {_MOST_CITIES} cities here"
        return None

    def solve(self, problem: Problem, seed: int, seconds: float) -> Answer:
        """Run the search once."""
        from ortools.constraint_solver import pywrapcp, routing_enums_pb2

        assert isinstance(problem, Tsp)
        n = problem.size
        cities = np.arange(n)
        matrix = [problem.near.between(np.full(n, city), cities).tolist() for city in cities]
        manager = pywrapcp.RoutingIndexManager(n, 1, seed % n)
        began = time.perf_counter()
        routing = pywrapcp.RoutingModel(manager)
        routing.SetArcCostEvaluatorOfAllVehicles(routing.RegisterTransitMatrix(matrix))
        course: list[tuple[float, float]] = []

        def see() -> None:
            cost = int(routing.CostVar().Max())
            if not course or cost < course[-1][1]:
                course.append((time.perf_counter() - began, cost))
                known = problem.best_known
                if known is not None and cost <= known.value:
                    routing.solver().FinishCurrentSearch()

        routing.AddAtSolutionCallback(see)
        options = pywrapcp.DefaultRoutingSearchParameters()
        first = routing_enums_pb2.FirstSolutionStrategy
        options.first_solution_strategy = first.PATH_CHEAPEST_ARC
        guided = routing_enums_pb2.LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
        options.local_search_metaheuristic = guided
        options.time_limit.FromMilliseconds(max(1, int(1000 * seconds)))
        found = routing.SolveWithParameters(options)
        taken = time.perf_counter() - began
        if found is None:
            return Answer((), None, taken)
        index, tour = routing.Start(0), []
        while not routing.IsEnd(index):
            tour.append(manager.IndexToNode(index))
            index = found.Value(routing.NextVar(index))
        cost = problem.cost(np.array(tour))
        if not course or cost < course[-1][1]:
            course.append((taken, cost))
        return Answer(course, tour, taken)
