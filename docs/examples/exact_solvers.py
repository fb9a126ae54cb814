"""Compare islands with exact solvers on facility location and rostering, in a Markdown table.

    python exact_solvers.py          # 10 s for islands, 60 s for exact solvers, two threads
    python exact_solvers.py --stop evaluations=4e7 --seeds 1 --only roster
    python exact_solvers.py --rivals HiGHS

HiGHS is in SciPy, CP-SAT in the package ortools. Both solve the same binary linear programs.
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
class BinaryProgram:
    """A binary linear program whose first variables stand for the pairs of an item and a value."""

    costs: NDArray[Any]
    """The cost of each variable."""
    shape: tuple[int, int]
    """The numbers of items and values."""
    rows: list[tuple[NDArray[Any], NDArray[Any], float, float]] = field(default_factory=list)
    """The constraints: variables, their factors, and the bounds of the weighted sum."""

    def add(self, variables: Any, low: float, high: float, factors: Any = 1) -> None:
        """Add a constraint: bounds on a weighted sum of variables."""
        flat = np.ravel(variables)
        self.rows.append((flat, np.broadcast_to(factors, flat.shape), low, high))

    def table(self) -> NDArray[Any]:
        """Return the variable of each item (row) and value (column)."""
        return np.arange(np.prod(self.shape)).reshape(self.shape)

    def solution(self, values: Any) -> NDArray[Any]:
        """Return the value of each item, from the values of all variables."""
        return np.asarray(np.asarray(values)[self.table()].argmax(axis=1))


def facilities(problem: Any) -> BinaryProgram:
    """Return the program of a facility location; its last variables indicate the open sites."""
    data, customers = problem.members, problem.size
    demand, opening = data["demand"], data["opening"]
    sites = len(opening)
    ways = data["distance"].reshape(sites, customers).T
    program = BinaryProgram(np.concatenate([ways.ravel(), opening]), (customers, sites))
    at, is_open = program.table(), customers * sites + np.arange(sites)
    for customer in at:
        program.add(customer, 1, 1)
        for at_site, site in zip(customer, is_open, strict=True):
            program.add([at_site, site], -1, 0, [1, -1])
    for j, capacity in enumerate(data["capacity"]):
        program.add([*at[:, j], is_open[j]], -np.inf, 0, [*demand, -capacity])
    return program


def roster(problem: Any) -> BinaryProgram:
    """Return the program of a roster."""
    days, off = rostering.DAYS, rostering.OFF
    program = BinaryProgram(problem.members["penalty"].ravel(), (problem.size, off + 1))
    for shifts_of_day in program.table():
        program.add(shifts_of_day, 1, 1)
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
class Answer:
    """The best solution of a solver, or None, its lower bound on the cost, and its time."""

    solution: NDArray[Any] | None
    bound: float
    seconds: float


def by_highs(program: BinaryProgram, seconds: float, threads: int) -> Answer:
    """Solve a program with the HiGHS of SciPy, which uses one thread."""
    scipy, sparse = import_module("scipy.optimize"), import_module("scipy.sparse")
    columns, factors, low, high = zip(*program.rows, strict=True)
    first = np.cumsum([0, *map(len, columns)])
    entries = np.concatenate(factors), np.concatenate(columns), first
    matrix = sparse.csr_array(entries, shape=(len(columns), len(program.costs)))
    began = time.perf_counter()
    result = scipy.milp(
        program.costs,
        integrality=np.ones(len(program.costs)),
        bounds=scipy.Bounds(0, 1),
        constraints=scipy.LinearConstraint(matrix, low, high),
        options={"time_limit": seconds, "mip_rel_gap": 0},
    )
    bound = -np.inf if result.mip_dual_bound is None else result.mip_dual_bound
    solution = None if result.x is None else program.solution(np.rint(result.x))
    return Answer(solution, bound, time.perf_counter() - began)


def by_cpsat(program: BinaryProgram, seconds: float, threads: int) -> Answer:
    """Solve a program with CP-SAT."""
    cp_model = import_module("ortools.sat.python.cp_model")
    model, solver = cp_model.CpModel(), cp_model.CpSolver()
    booleans = [model.new_bool_var("") for _ in program.costs]

    def total(variables: NDArray[Any], factors: NDArray[Any]) -> Any:
        terms = [booleans[i] for i in variables.tolist()]
        return cp_model.LinearExpr.weighted_sum(terms, factors.tolist())

    for variables, factors, low, high in program.rows:
        least = int(max(low, -(2**40)))
        model.add_linear_constraint(total(variables, factors), least, int(high))
    model.minimize(total(np.arange(len(booleans)), program.costs))
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers = seconds, threads
    began = time.perf_counter()
    status = solver.solve(model)
    took = time.perf_counter() - began
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer(None, solver.best_objective_bound, took)
    values = [solver.value(variable) for variable in booleans]
    return Answer(program.solution(values), solver.best_objective_bound, took)


Solver = Callable[[BinaryProgram, float, int], Answer]
RIVALS: dict[str, tuple[str, Solver]] = {
    "HiGHS": ("scipy", by_highs),
    "CP-SAT": ("ortools", by_cpsat),
}
"""The package of each exact solver, and the function that calls it."""


def cell(solve: Solver, problem: islands.Problem, program: BinaryProgram, *limits: Any) -> str:
    """Return the cost that an exact solver reaches, "optimal" or its bound, and the time."""
    answer = solve(program, *limits)
    if answer.solution is None:
        return f"none in {answer.seconds:.1f} s"
    cost = problem.cost(answer.solution)
    bound = np.ceil(answer.bound - 1e-6)
    proof = "optimal" if bound >= cost else f"bound {bound:.0f}"
    return f"{cost}, {proof}, {answer.seconds:.1f} s"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3, help="number of instances of each problem")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--stop", default="seconds=10", help="stopping criterion of islands")
    parser.add_argument("--seconds", type=float, default=60, help="time limit of exact solvers")
    parser.add_argument("--only", default="", help="part of the names of problems")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=[*RIVALS])
    given = parser.parse_args()
    for rival in given.rivals:
        package, _ = RIVALS[rival]
        if find_spec(package) is None:
            parser.error(
                f"--rivals {rival}: the package {package} is not installed. Run pip install"
                f" {package}, or specify the other rivals only"
            )
    print(f"| problem | seed | islands | {' | '.join(given.rivals)} |")
    print("|" + "---|" * (3 + len(given.rivals)), flush=True)
    for seed in range(1, given.seeds + 1):
        location = facility_location.make(30, 100, seed)
        rosters = rostering.make(20, seed)
        for problem, program in (location, facilities(location)), (rosters, roster(rosters)):
            if given.only not in problem.name:
                continue
            limits = given.seconds, given.threads
            options: dict[str, Any] = {"backend": "cpu", "threads": given.threads, "seed": 1}
            began = time.process_time()
            result = islands.solve(problem, stop=given.stop, **options)
            cells = [problem.name, str(seed)]
            cells.append(f"{result.cost}, {time.process_time() - began:.1f} s of CPU time")
            for rival in given.rivals:
                cells.append(cell(RIVALS[rival][1], problem, program, *limits))
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
