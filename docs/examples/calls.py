"""What the defaults of `function=` find in a number of calls, in a table in Markdown.

    python calls.py                              # 3 seeds: some minutes
    python calls.py --calls 3000 --seeds 1 --only rosenbrock
    python calls.py --set algorithm=de --set population=64

SciPy's differential evolution has as many calls, with its defaults but for the polish, and so has
the CMA-ES of pymoo, if it is installed.
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

    def problem(self, value: Value) -> islands.Problem:
        """Return the problem with a function that returns its values."""
        if self.is_constrained:
            low, high = -self.bound, self.bound
            return islands.real(low, high, self.vector, function=value, violation=g07_violation)
        if self.vector:
            return islands.real(-self.bound, self.bound, self.vector, function=value)
        return islands.permutation(self.items, function=value)


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
    result = islands.solve(case.problem(case.value), evaluations=calls, seed=seed, **options)
    return np.inf if result.cost is None else float(result.cost)


def by_scipy(case: Case, calls: int, seed: int) -> float | None:
    """Return what SciPy's differential evolution finds; None for an order, or without SciPy."""
    if not case.vector or find_spec("scipy") is None:
        return None
    rounds = max(1, calls // (15 * case.vector) - 1)  # a population of 15 for each dimension
    bounds = [(-case.bound, case.bound)] * case.vector
    scipy = import_module("scipy.optimize")
    options: dict[str, Any] = {"maxiter": rounds, "tol": 0, "polish": False, "rng": seed}
    if case.is_constrained:
        options["constraints"] = scipy.NonlinearConstraint(g07_excess, -np.inf, 0)
    found = scipy.differential_evolution(case.value, bounds, **options)
    return float(found.fun) if found.get("maxcv", 0) <= 0 else np.inf


def by_cmaes(case: Case, calls: int, seed: int) -> float | None:
    """Return what the CMA-ES of pymoo finds; None for an order, or if it is not installed."""
    if not case.vector or find_spec("pymoo") is None:
        return None
    algorithm = import_module("pymoo.algorithms.soo.nonconvex.cmaes").CMAES()
    made = import_module("pymoo.problems.functional").FunctionalProblem
    if case.is_constrained:
        return None  # pymoo's CMA-ES takes no constraints
    problem = made(case.vector, case.value, xl=-case.bound, xu=case.bound)
    minimize = import_module("pymoo.optimize").minimize
    return float(minimize(problem, algorithm, ("n_evals", calls), seed=seed).F[0])


def shown(values: list[float | None]) -> str:
    """Return the median of some values, or a dash."""
    known = [each for each in values if each is not None]
    return f"{median(known):.4g}" if known else "-"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, nargs="*", default=[3_000, 30_000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", help="a part of the names of problems")
    parser.add_argument("--set", action="append", default=[], help="a setting: name=value")
    given = parser.parse_args()
    settings = dict(each.split("=", 1) for each in given.set)
    print("| problem | dimensions | calls | islands | SciPy | CMA-ES |")
    print("|---|---|---|---|---|---|", flush=True)
    seeds = range(1, given.seeds + 1)
    for case in cases():
        for calls in given.calls if given.only in case.name else ():
            cells = [case.name, str(case.vector or case.items), f"{calls:,}"]
            cells.append(shown([by_islands(case, calls, seed, settings) for seed in seeds]))
            cells.append(shown([by_scipy(case, calls, seed) for seed in seeds]))
            cells.append(shown([by_cmaes(case, calls, seed) for seed in seeds]))
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
