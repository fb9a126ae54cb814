"""Facility location and rostering beside exact solvers, in a table in Markdown.

    python exact_solvers.py                              # 10 s of two threads, exact ones 60 s
    python exact_solvers.py --stop evaluations=4e7 --seeds 1 --only roster
    python exact_solvers.py --rivals HiGHS

HiGHS is in SciPy, CP-SAT in the package ortools. Both get the same linear program of 0 and 1.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import facility_location
import numpy as np
import rostering
from numpy.typing import NDArray

import islands


@dataclass
class Linear:
    """A linear program of 0 and 1, with a variable for each item and value, and others."""

    costs: NDArray[Any]
    """What each value of each item costs, and then the other variables."""
    shape: tuple[int, int]
    """The number of items, and that of values."""
    rows: list[tuple[NDArray[Any], NDArray[Any], float, float]] = field(default_factory=list)
    """Variables, their factors, and the bounds of their sum."""

    def add(self, variables: Any, low: float, high: float, factors: Any = 1) -> None:
        """Keep a sum of variables between bounds."""
        every = np.ravel(variables)
        self.rows.append((every, np.broadcast_to(factors, every.shape), low, high))

    def table(self) -> NDArray[Any]:
        """Return the number of the variable of each item and value."""
        return np.arange(np.prod(self.shape)).reshape(self.shape)

    def solution(self, values: Any) -> NDArray[Any]:
        """Return the value of each item."""
        table = np.asarray(values)[self.table()]
        return np.asarray(table.argmax(axis=1))


def facilities(problem: Any) -> Linear:
    """Return the program of a facility location: other variables say which sites are open."""
    data, customers = problem.members, problem.size
    demand, opening = data["demand"], data["opening"]
    sites = len(opening)
    ways = data["distance"].reshape(sites, customers).T
    program = Linear(np.concatenate([ways.ravel(), opening]), (customers, sites))
    at, is_open = program.table(), customers * sites + np.arange(sites)
    for own in at:
        program.add(own, 1, 1)
        for each, site in zip(own, is_open, strict=True):
            program.add([each, site], -1, 0, [1, -1])
    for j, capacity in enumerate(data["capacity"]):
        program.add([*at[:, j], is_open[j]], -np.inf, 0, [*demand, -capacity])
    return program


def roster(problem: Any) -> Linear:
    """Return the program of a roster."""
    days, off = rostering.DAYS, rostering.OFF
    program = Linear(problem.members["penalty"].ravel(), (problem.size, off + 1))
    for own in program.table():
        program.add(own, 1, 1)
    shifts = program.table().reshape(-1, days, off + 1)
    for day in range(days):
        for shift, needed in enumerate(rostering.NEEDED):
            program.add(shifts[:, day, shift], needed, needed)
    for nurse in shifts:
        program.add(nurse[:, :off], 7, 9)
        program.add(nurse[:, 2], 0, 3)
        for day in range(days - 5):
            program.add(nurse[day : day + 6, :off], 0, 5)
        for day in range(days - 1):
            program.add([nurse[day, 2], *nurse[day + 1, :2]], 0, 1)
    return program


@dataclass
class Found:
    """A solution, or None, a lower bound of all costs, and the time that these took."""

    solution: NDArray[Any] | None
    bound: float
    seconds: float


def by_highs(program: Linear, seconds: float, threads: int) -> Found:
    """Solve a program with the HiGHS of SciPy, which uses one thread."""
    scipy, sparse = import_module("scipy.optimize"), import_module("scipy.sparse")
    columns, factors, low, high = zip(*program.rows, strict=True)
    first = np.cumsum([0, *map(len, columns)])
    entries = np.concatenate(factors), np.concatenate(columns), first
    matrix = sparse.csr_array(entries, shape=(len(columns), len(program.costs)))
    began = time.perf_counter()
    found = scipy.milp(
        program.costs,
        integrality=np.ones(len(program.costs)),
        bounds=scipy.Bounds(0, 1),
        constraints=scipy.LinearConstraint(matrix, low, high),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    bound = -np.inf if found.mip_dual_bound is None else found.mip_dual_bound
    solution = None if found.x is None else program.solution(np.rint(found.x))
    return Found(solution, bound, time.perf_counter() - began)


def by_cpsat(program: Linear, seconds: float, threads: int) -> Found:
    """Solve a program with CP-SAT."""
    cp_model = import_module("ortools.sat.python.cp_model")
    model, solver = cp_model.CpModel(), cp_model.CpSolver()
    each = [model.new_bool_var("") for _ in program.costs]

    def total(variables: NDArray[Any], factors: NDArray[Any]) -> Any:
        own = [each[i] for i in variables.tolist()]
        return cp_model.LinearExpr.weighted_sum(own, factors.tolist())

    for variables, factors, low, high in program.rows:
        least = int(max(low, -(2**40)))
        model.add_linear_constraint(total(variables, factors), least, int(high))
    model.minimize(total(np.arange(len(each)), program.costs))
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers = seconds, threads
    began = time.perf_counter()
    status = solver.solve(model)
    took = time.perf_counter() - began
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Found(None, solver.best_objective_bound, took)
    values = [solver.value(variable) for variable in each]
    return Found(program.solution(values), solver.best_objective_bound, took)


Solver = Callable[[Linear, float, int], Found]
RIVALS: dict[str, tuple[str, Solver]] = {
    "HiGHS": ("scipy", by_highs),
    "CP-SAT": ("ortools", by_cpsat),
}
"""The package of each exact solver, and how it solves a program."""


def exactly(solve: Solver, problem: islands.Problem, program: Linear, *limits: Any) -> str:
    """Return the cost of what an exact solver finds, its bound if it is lower, and the time."""
    found = solve(program, *limits)
    if found.solution is None:
        return f"none in {found.seconds:.1f} s"
    cost = problem.cost(found.solution)
    bound = np.ceil(found.bound - 1e-6)
    proof = "optimal" if bound >= cost else f"bound {bound:.0f}"
    return f"{cost}, {proof}, {found.seconds:.1f} s"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3, help="instances of each problem")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--stop", default="seconds=10", help="when islands stops")
    parser.add_argument("--seconds", type=float, default=60, help="the limit of exact solvers")
    parser.add_argument("--only", default="", help="a part of the names of problems")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=[*RIVALS])
    given = parser.parse_args()
    for rival in given.rivals:
        package, _ = RIVALS[rival]
        if find_spec(package) is None:
            parser.error(
                f"--rivals {rival}: the package {package} is not installed. Run pip install"
                f" {package}, or name the other rivals only"
            )
    print(f"| problem | seed | islands | {' | '.join(given.rivals)} |")
    print("|" + "---|" * (3 + len(given.rivals)), flush=True)
    for seed in range(1, given.seeds + 1):
        location = facility_location.make(30, 100, seed)
        rosters = rostering.make(20, seed)
        for problem, program in (
            (location, facilities(location)),
            (rosters, roster(rosters)),
        ):
            if given.only not in problem.name:
                continue
            limits = given.seconds, given.threads
            options: dict[str, Any] = {"backend": "cpu", "threads": given.threads, "seed": 1}
            began = time.process_time()
            result = islands.solve(problem, stop=given.stop, **options)
            cells = [problem.name, str(seed)]
            cells.append(f"{result.cost}, {time.process_time() - began:.1f} s of CPU time")
            for rival in given.rivals:
                cells.append(exactly(RIVALS[rival][1], problem, program, *limits))
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
