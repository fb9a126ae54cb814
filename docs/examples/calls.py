"""What the defaults of `function=` find in a number of calls, in a table in Markdown.

    python calls.py                              # 3 seeds: some minutes
    python calls.py --calls 3000 --seeds 1 --only rosenbrock
    python calls.py --rivals --set algorithm=de --set population=64

The rivals have as many calls: the differential evolution of SciPy, with its defaults but for the
polish, and the CMA-ES of pymoo, which begins again with twice the population when it has converged.
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
    """Return the sum of squares: the simplest function."""
    return float(x @ x)


def ellipsoid(x: Vector) -> float:
    """Return a sum of squares whose weights differ by a factor of a million."""
    return float(10 ** np.linspace(0, 6, len(x)) @ (x * x))


def rosenbrock(x: Vector) -> float:
    """Return the height above a bent valley."""
    y = x + 1
    return float((100 * (y[1:] - y[:-1] ** 2) ** 2 + (1 - y[:-1]) ** 2).sum())


def ridge(x: Vector) -> float:
    """Return the height above a sharp ridge."""
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
    """Return a quadratic function, of which 24.306 is the least value within eight constraints."""
    first = x[0] ** 2 + x[1] ** 2 + x[0] * x[1] - 14 * x[0] - 16 * x[1] + 45
    weights, middle = np.array([1, 4, 1, 2, 5, 7, 2, 1]), np.array([10, 5, 3, 1, 0, 11, 10, 7])
    return float(first + weights @ (x[2:] - middle) ** 2)


def g07_excess(x: Vector) -> Vector:
    """Return by how much each of the eight constraints is exceeded, if positive."""
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
    """Return the sum of what exceeds the constraints."""
    return float(np.maximum(0, g07_excess(x)).sum())


FUNCTIONS = sphere, ellipsoid, rosenbrock, ridge, rastrigin, ackley, schaffer


@dataclass(frozen=True)
class Case:
    """A problem of the table."""

    name: str
    value: Value
    vector: int = 0
    """The number of dimensions of a vector; 0: the solution is an order."""
    items: int = 0
    bound: float = BOUND
    is_constrained: bool = False
    """Whether solutions must keep the constraints of g07."""

    def problem(self) -> islands.Problem:
        """Return the problem with its function in Python."""
        if not self.vector:
            return islands.permutation(self.items, function=self.value)
        rule = g07_violation if self.is_constrained else None
        bounds = -self.bound, self.bound
        return islands.real(*bounds, self.vector, function=self.value, violation=rule)


Solver = Callable[[Case, int, int], float | None]
"""Returns what is found of a problem in a number of calls, with a seed."""


def turned(function: Callable[[Vector], float], n: int) -> Value:
    """Return a function that is shifted and rotated, the same in each run."""
    random = np.random.default_rng(n)
    shift, rotation = random.uniform(-4, 4, n), np.linalg.qr(random.normal(size=(n, n)))[0]
    return lambda x: function(rotation @ (x - shift))


def tardiness(order: NDArray[Any], times: Any, due: Any, weights: Any) -> int:
    """Return the weighted tardiness of jobs that one machine makes in an order."""
    late = np.maximum(0, times[order].cumsum() - due[order])
    return int(weights[order] @ late)


def flow(order: NDArray[Any], times: Any) -> int:
    """Return when the last of all machines has made the jobs, in an order."""
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
        for each in FUNCTIONS:
            yield Case(f"{each.__name__}, shifted and rotated", turned(each, n), n)
    yield Case("g07, 8 constraints", g07, 10, bound=10.0, is_constrained=True)
    random = np.random.default_rng(1)
    times, weights = random.integers(1, 100, 100), random.integers(1, 10, 100)
    due = random.integers(0, int(0.6 * times.sum()), 100)
    late = partial(tardiness, times=times, due=due, weights=weights)
    yield Case("tardiness, 100 jobs", late, items=100)
    shop = partial(flow, times=random.integers(1, 100, (50, 10)))
    yield Case("flow shop, 50 x 10", shop, items=50)


def by_islands(case: Case, calls: int, seed: int, settings: dict[str, Any]) -> float:
    """Return what the defaults find."""
    options: dict[str, Any] = {"backend": "cpu", "threads": 1} | settings
    result = islands.solve(case.problem(), evaluations=calls, seed=seed, **options)
    return np.inf if result.cost is None else float(result.cost)


def by_scipy(case: Case, calls: int, seed: int) -> float | None:
    """Return what SciPy's differential evolution finds; None for an order, or too few calls."""
    rounds = calls // (15 * case.vector) - 1 if case.vector else 0  # of 15 for each dimension
    if rounds < 1:
        return None
    bounds = [(-case.bound, case.bound)] * case.vector
    scipy = import_module("scipy.optimize")
    options: dict[str, Any] = {"maxiter": rounds, "tol": 0, "polish": False, "rng": seed}
    if case.is_constrained:
        options["constraints"] = scipy.NonlinearConstraint(g07_excess, -np.inf, 0)
    found = scipy.differential_evolution(case.value, bounds, **options)
    return float(found.fun) if found.get("maxcv", 0) <= 0 else np.inf


def by_cmaes(case: Case, calls: int, seed: int) -> float | None:
    """Return what pymoo's CMA-ES finds; None for an order, or constraints, which it cannot have."""
    if not case.vector or case.is_constrained:
        return None
    algorithm = import_module("pymoo.algorithms.soo.nonconvex.cmaes").CMAES(restarts=9)
    made = import_module("pymoo.problems.functional").FunctionalProblem
    problem = made(case.vector, case.value, xl=-case.bound, xu=case.bound)
    minimize = import_module("pymoo.optimize").minimize
    return float(minimize(problem, algorithm, ("n_evals", calls), seed=seed).F[0])


RIVALS = {"SciPy": ("scipy", by_scipy), "CMA-ES": ("pymoo", by_cmaes)}
"""The package of each rival, and what it finds."""


def shown(values: list[float | None]) -> str:
    """Return the median of some values, or a dash."""
    known = [each for each in values if each is not None]
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
    parser.add_argument("--only", default="", help="a part of the names of problems")
    parser.add_argument("--rivals", nargs="*", choices=RIVALS, default=[*RIVALS])
    parser.add_argument("--set", action="append", default=[], help="a setting: name=value")
    given = parser.parse_args()
    settings = dict(each.split("=", 1) for each in given.set)
    for rival in given.rivals:
        package, _ = RIVALS[rival]
        if find_spec(package) is None:
            parser.error(
                f"--rivals {rival}: the package {package} is not installed. Run pip install"
                f" {package}, or name the other rivals only"
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
