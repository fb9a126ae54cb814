"""Print a Markdown table of the costs that the defaults reach with a given number of calls.

    python calls.py                              # 3 seeds: some minutes
    python calls.py --calls 3000 --seeds 1 --only rosenbrock
    python calls.py --rivals --set algorithm=de --set population=64

The rivals make the same number of calls: SciPy's differential evolution, with its defaults but
without polish, and pymoo's CMA-ES, which restarts with twice the population when it has converged.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands

Vector = NDArray[np.float64]
Value = Callable[[Any], float]
BOUND = 5.0


def sphere(x: Vector) -> float:
    """Return the sum of squares."""
    return float(x @ x)


def ellipsoid(x: Vector) -> float:
    """Return a sum of squares whose weights differ by a factor of a million."""
    return float(10 ** np.linspace(0, 6, len(x)) @ (x * x))


def rosenbrock(x: Vector) -> float:
    """Return Rosenbrock's function, a curved valley."""
    y = x + 1
    return float((100 * (y[1:] - y[:-1] ** 2) ** 2 + (1 - y[:-1]) ** 2).sum())


def ridge(x: Vector) -> float:
    """Return a function with a sharp ridge."""
    return float(x[0] ** 2 + 100 * np.sqrt(x[1:] @ x[1:]))


def rastrigin(x: Vector) -> float:
    """Return a sum of squares with many local minima."""
    return float((x * x + 10 - 10 * np.cos(2 * np.pi * x)).sum())


def ackley(x: Vector) -> float:
    """Return a nearly flat plain with local minima around a deep hole."""
    waves = np.exp(np.cos(2 * np.pi * x).mean())
    return float(20 + np.e - 20 * np.exp(-0.2 * np.sqrt((x * x).mean())) - waves)


def schaffer(x: Vector) -> float:
    """Return a bowl with ripples that are steeper farther away."""
    s = np.sqrt(x[1:] ** 2 + x[:-1] ** 2)
    return float(np.mean(np.sqrt(s) * (1 + np.sin(50 * s**0.2) ** 2)) ** 2)


def g07(x: Vector) -> float:
    """Return a quadratic function with the minimum 24.306 within eight constraints."""
    mixed = x[0] ** 2 + x[1] ** 2 + x[0] * x[1] - 14 * x[0] - 16 * x[1] + 45
    weights, middle = np.array([1, 4, 1, 2, 5, 7, 2, 1]), np.array([10, 5, 3, 1, 0, 11, 10, 7])
    return float(mixed + weights @ (x[2:] - middle) ** 2)


def g07_excess(x: Vector) -> Vector:
    """Return the excess of each of the eight constraints; negative numbers are feasible."""
    a, b, c, d, e, f, g, h, i, j = x
    return np.array(
        [
            4 * a + 5 * b - 3 * g + 9 * h - 105,
            10 * a - 8 * b - 17 * g + 2 * h,
            -8 * a + 2 * b + 5 * i - 2 * j - 12,
            3 * (a - 2) ** 2 + 4 * (b - 3) ** 2 + 2 * c**2 - 7 * d - 120,
            5 * a**2 + 8 * b + (c - 6) ** 2 - 2 * d - 40,
            a**2 + 2 * (b - 2) ** 2 - 2 * a * b + 14 * e - 6 * f,
            0.5 * (a - 8) ** 2 + 2 * (b - 4) ** 2 + 3 * e**2 - f - 30,
            -3 * a + 6 * b + 12 * (i - 8) ** 2 - 7 * j,
        ]
    )


def g07_violation(x: Vector) -> float:
    """Return the sum of the excesses of the constraints."""
    return float(np.maximum(0, g07_excess(x)).sum())


FUNCTIONS = sphere, ellipsoid, rosenbrock, ridge, rastrigin, ackley, schaffer


@dataclass(frozen=True)
class Case:
    """A problem of the table."""

    name: str
    value: Value
    vector: int = 0
    """The number of dimensions; 0 if the solution is an order."""
    items: int = 0
    bound: float = BOUND
    is_constrained: bool = False
    """Whether the problem has the constraints of g07."""

    def problem(self) -> islands.Problem:
        """Return the problem for islands."""
        if not self.vector:
            return islands.permutation(self.items, function=self.value)
        rule = g07_violation if self.is_constrained else None
        bounds = -self.bound, self.bound
        return islands.real(*bounds, self.vector, function=self.value, violation=rule)


Solver = Callable[[Case, int, int], float | None]
"""Returns the best cost of a problem after a number of calls, with a seed."""


def rotated(function: Callable[[Vector], float], n: int) -> Value:
    """Return the function with a shift and a rotation, which are the same in each run."""
    random = np.random.default_rng(n)
    shift, rotation = random.uniform(-4, 4, n), np.linalg.qr(random.normal(size=(n, n)))[0]
    return lambda x: function(rotation @ (x - shift))


def tardiness(order: NDArray[Any], times: Any, due: Any, weights: Any) -> int:
    """Return the weighted tardiness of the jobs, which one machine processes in this order."""
    late = np.maximum(0, times[order].cumsum() - due[order])
    return int(weights[order] @ late)


def flow(order: NDArray[Any], times: Any) -> int:
    """Return the makespan of a flow shop that processes the jobs in this order."""
    ends = np.zeros(times.shape[1], np.int64)
    for job in order:
        end = 0
        for machine, time in enumerate(times[job]):
            end = max(end, ends[machine]) + time
            ends[machine] = end
    return int(ends[-1])


def cases() -> Iterator[Case]:
    """Yield the problems of the table."""
    yield Case("rastrigin, not rotated", rastrigin, 30)
    yield Case("rosenbrock, not rotated", lambda x: rosenbrock(x - 1), 30)
    for n in (10, 40):
        for function in FUNCTIONS:
            yield Case(f"{function.__name__}, shifted and rotated", rotated(function, n), n)
    yield Case("g07, 8 constraints", g07, 10, bound=10.0, is_constrained=True)
    random = np.random.default_rng(1)
    times, weights = random.integers(1, 100, 100), random.integers(1, 10, 100)
    due = random.integers(0, int(0.6 * times.sum()), 100)
    late = partial(tardiness, times=times, due=due, weights=weights)
    yield Case("tardiness, 100 jobs", late, items=100)
    shop = partial(flow, times=random.integers(1, 100, (50, 10)))
    yield Case("flow shop, 50 x 10", shop, items=50)


def by_islands(case: Case, calls: int, seed: int, settings: dict[str, Any]) -> float:
    """Return the best cost of islands, or infinity if it is infeasible."""
    options: dict[str, Any] = {"backend": "cpu", "threads": 1} | settings
    result = islands.solve(case.problem(), evaluations=calls, seed=seed, **options)
    return np.inf if result.cost is None else float(result.cost)


def by_scipy(case: Case, calls: int, seed: int) -> float | None:
    """Return the best cost of SciPy's search; None for an order or with too few calls."""
    rounds = calls // (15 * case.vector) - 1 if case.vector else 0  # of 15 calls for each dimension
    if rounds < 1:
        return None
    bounds = [(-case.bound, case.bound)] * case.vector
    scipy = import_module("scipy.optimize")
    options: dict[str, Any] = {"maxiter": rounds, "tol": 0, "polish": False, "rng": seed}
    if case.is_constrained:
        options["constraints"] = scipy.NonlinearConstraint(g07_excess, -np.inf, 0)
    result = scipy.differential_evolution(case.value, bounds, **options)
    return float(result.fun) if result.get("maxcv", 0) <= 0 else np.inf


def by_cmaes(case: Case, calls: int, seed: int) -> float | None:
    """Return the best cost of pymoo's CMA-ES; None for an order or with constraints."""
    if not case.vector or case.is_constrained:
        return None
    algorithm = import_module("pymoo.algorithms.soo.nonconvex.cmaes").CMAES(restarts=9)
    problem_class = import_module("pymoo.problems.functional").FunctionalProblem
    problem = problem_class(case.vector, case.value, xl=-case.bound, xu=case.bound)
    minimize = import_module("pymoo.optimize").minimize
    return float(minimize(problem, algorithm, ("n_evals", calls), seed=seed).F[0])


RIVALS = {"SciPy": ("scipy", by_scipy), "CMA-ES": ("pymoo", by_cmaes)}
"""The package of each rival, and the function that calls it."""


def shown(values: list[float | None]) -> str:
    """Return the median of some values as text, or a dash."""
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    middle = median(known)
    if np.isinf(middle):
        return "not feasible"
    return f"{float(f'{middle:.4g}'):,.0f}" if middle >= 1_000 else f"{middle:.3g}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, nargs="*", default=[3_000, 30_000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="part of the names of problems")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=[*RIVALS])
    parser.add_argument("--set", action="append", default=[], help="setting of islands: name=value")
    given = parser.parse_args()
    settings = dict(setting.split("=", 1) for setting in given.set)
    for rival in given.rivals:
        package, _ = RIVALS[rival]
        if find_spec(package) is None:
            parser.error(
                f"--rivals {rival}: the package {package} is not installed. Run pip install"
                f" {package}, or specify the other rivals only"
            )
    solvers: dict[str, Solver] = {"islands": partial(by_islands, settings=settings)}
    solvers |= {rival: RIVALS[rival][1] for rival in given.rivals}
    columns = [f"{solver}, {calls:,}" for calls in given.calls for solver in solvers]
    print(f"| problem | size | {' | '.join(columns)} |")
    print("|" + "---|" * (2 + len(columns)), flush=True)
    for case in cases():
        if given.only not in case.name:
            continue
        cells = [case.name, str(case.vector or case.items)]
        for calls in given.calls:
            for solve in solvers.values():
                seeds = range(1, given.seeds + 1)
                cells.append(shown([solve(case, calls, seed) for seed in seeds]))
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
