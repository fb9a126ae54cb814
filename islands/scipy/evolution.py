"""Differential evolution with the SciPy interface."""

from __future__ import annotations

import inspect
import multiprocessing
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import islands
from islands.calls import is_whole
from islands.parallel import World
from islands.scipy import messages
from islands.scipy.evaluation import Constraint, Function, Variables, Vectors
from islands.text import show

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

_STRATEGIES = {
    "best1": "current-to-pbest/1",
    "best2": "current-to-pbest/1",
    "rand1": "rand/1",
    "rand2": "rand/1",
    "currenttobest1": "current-to-best/1",
    "randtobest1": "current-to-pbest/1",
}
"""The strategies of the search that are most similar to SciPy's."""
_MUTATION, _RECOMBINATION = (0.5, 1), 0.7
"""SciPy's defaults; with these values, the search adapts both rates."""
_LEAST_POPULATION = 5
_BEST = 0.9
"""Share of the population whose values must be close for the search to end."""
_INFINITE, _INFEASIBLE = 9e299, 1e300
"""Cost of an infinite value, and of the smallest violation of a constraint, in the search."""
_ROUNDING = 1e-8
"""Maximum violation of constraints after a polish."""
_MOST_SEED = 2**31 - 1
_STOPPED = "callback function requested stop early"
_FINISHED = "Optimization terminated successfully."
_SPENT = "Maximum number of iterations has been exceeded."
_NO_NUMBER = "func(x, *args) has returned NaN for all vectors"


def differential_evolution(
    func: Callable[..., Any],
    bounds: Any,
    args: tuple[Any, ...] | None = (),
    strategy: str = "best1bin",
    maxiter: int | None = 1000,
    popsize: int = 15,
    tol: float = 0.01,
    mutation: float | tuple[float, float] = _MUTATION,
    recombination: float = _RECOMBINATION,
    rng: Any = None,
    callback: Callable[..., Any] | None = None,
    disp: bool = False,
    polish: bool | Callable[..., Any] = True,
    init: str | ArrayLike = "latinhypercube",
    atol: float = 0,
    updating: str = "immediate",
    workers: int | Callable[..., Any] = 1,
    constraints: Any = (),
    x0: ArrayLike | None = None,
    *,
    integrality: ArrayLike | None = None,
    vectorized: bool = False,
    seed: Any = None,
) -> OptimizeResult:
    """Find the minimum of a function of several variables by differential evolution.

    The arguments are those of `scipy.optimize.differential_evolution`. At most
    `(maxiter + 1) * popsize * len(x)` vectors are evaluated before the polish; variables with equal
    bounds do not count. The search ends when the standard deviation of the best nine tenths of the
    population's values is at most `atol + tol * abs(mean)`. `mutation` and `recombination` adapt
    unless one of them differs from its default. Crossover is binomial, and `updating` is deferred.

    >>> result = islands.scipy.differential_evolution(lambda x: (x**2).sum(), [(-1, 2)] * 2, rng=1)
    >>> bool(result.fun < 1e-6), result.seed
    (True, 1)
    """
    _require_counts(maxiter, popsize)
    settings = _settings(strategy, mutation, recombination)
    variables = Variables.of(bounds, integrality)
    number = _seed(rng, seed)
    start = _start(init, x0, popsize, variables, number)
    limits = [Constraint.of(limit, vectorized=vectorized) for limit in _listed(constraints)]
    with _mapping(workers, updating, vectorized=vectorized) as mapped:
        function = Function(func, args or (), mapped, limits, variables)
        population = _Population(function, start)
        watch = _Watch(population, callback, tol, atol, 1000 if maxiter is None else maxiter, disp)
        digest = watch.search(number, settings)
        result = population.result(watch.generation, watch.message)
        for shown in (result, watch.seen):
            shown.seed, shown.digest = number, digest
        if function.is_nan:
            result.fun, result.success, result.message = np.float64(np.nan), False, _NO_NUMBER
        elif polish and not variables.is_integral.all():
            _polish(result, polish, function, constraints)
    if limits:
        _add_violations(result, limits)
    return result


def _add_violations(result: OptimizeResult, constraints: list[Constraint]) -> None:
    """Add the violation of the constraints to a result."""
    result.constr = [limit.violations(result.x[np.newaxis])[0] for limit in constraints]
    result.constr_violation = float(np.concatenate(result.constr).max())
    result.maxcv = result.constr_violation
    if result.maxcv > 0:
        result.success = False
        result.message = f"The solution does not satisfy the constraints, MAXCV = {result.maxcv}"


class _Population:
    """The individuals of the search and their values, in the order of evaluation.

    The k-th vector of a generation replaces the k-th individual if it is better.
    """

    def __init__(self, function: Function, start: Vectors) -> None:
        self.function, self.start = function, start
        self._rows, self._costs = start.copy(), np.full(len(start), np.inf)
        self._energies = self._costs.copy()
        self._next = 0
        self.is_ready = False
        self.error: BaseException | None = None

    def costs(self, vectors: Vectors) -> Vectors:
        """Return the costs of vectors; known costs of individuals are not computed again."""
        if not self.is_ready:
            return np.zeros(len(vectors))  # this call only determines that costs are real numbers
        known = (self._rows == vectors).all(axis=1) if len(vectors) == 1 else np.zeros(1, bool)
        if known.any() and self._next >= len(self.start):
            return self._costs[[int(known.argmax())]]
        try:
            return self._evaluated(vectors)
        except BaseException as error:
            self.error = error
            raise

    def _evaluated(self, vectors: Vectors) -> Vectors:
        """Return the costs of vectors, which replace worse individuals."""
        values, violations = self.function.values(self.function.variables.decoded(vectors))
        part = violations / (1 + violations)
        costs = np.where(
            violations > 0, _INFEASIBLE * (1 + part), np.clip(values, -_INFINITE, _INFINITE)
        )
        count = len(self.start)
        for row, value, cost in zip(vectors, values, costs, strict=True):
            slot = self._next % count
            if self._next < count or cost < self._costs[slot]:
                self._rows[slot], self._costs[slot], self._energies[slot] = row, cost, value
            self._next += 1
        return costs

    def spread(self) -> tuple[float, float]:
        """Return the standard deviation of the best values, and the magnitude of their mean.

        Leave out the worst values: with adaptive rates, a few individuals lag behind for a while.
        """
        best = np.sort(self._energies)[: max(_LEAST_POPULATION, int(_BEST * len(self.start)))]
        if not np.isfinite(best).all():
            return np.inf, 0.0
        return float(best.std()), abs(float(best.mean()))

    def result(self, generation: int, message: str = "in progress") -> OptimizeResult:
        """Return the state as an `OptimizeResult`, with the best individual first."""
        from scipy.optimize import OptimizeResult

        order, best = np.arange(len(self._rows)), int(self._costs.argmin())
        order[[0, best]] = order[[best, 0]]
        rows = self.function.variables.decoded(self._rows[order])
        return OptimizeResult(
            x=rows[0].copy(),
            fun=self._energies[best],
            nfev=self.function.calls,
            nit=generation,
            message=message,
            success=message not in (_STOPPED, _SPENT),
            population=rows,
            population_energies=self._energies[order],
        )


@dataclass
class _Watch:
    """Performs the search, and decides after each generation whether it ends."""

    population: _Population
    callback: Callable[..., Any] | None
    tol: float
    atol: float
    maxiter: int
    disp: bool
    generation: int = 0
    message: str = _SPENT

    def __post_init__(self) -> None:
        self.seen = self.population.result(0)
        """The result that the callback received last; seed and digest are added at the end."""
        named = inspect.signature(self.callback).parameters if self.callback is not None else ()
        self._takes_result = {*named} == {"intermediate_result"}

    def search(self, seed: int, settings: Mapping[str, Any]) -> str:
        """Perform the search, and return its digest."""
        population, variables = self.population, self.population.function.variables
        if not variables.free.any():
            population.is_ready = True
            population.costs(population.start)
            self.message = _FINISHED
            return ""
        problem = islands.real(*variables.search_bounds(), batch=population.costs)
        problem.costs(population.start[:1])
        population.is_ready = True
        try:
            result = islands.solve(
                problem,
                algorithm="de",
                islands=1,
                population=len(population.start),
                migration="none",
                start=population.start,
                seed=seed,
                record={"every": 1},
                **settings,
                generations=max(1, self.maxiter),
                callback=self._ends,
                backend="cpu",
                world=World(),  # under MPI, each rank searches alone
            )
        except islands.IslandsError:
            if population.error is not None:
                raise population.error from None
            raise
        return result.digest

    def _ends(self, progress: islands.Progress) -> bool:
        self.generation = progress.generation
        if progress.generation == 0:
            return self.maxiter == 0
        deviation, mean = self.population.spread()
        if self.disp:
            show(f"differential_evolution step {progress.generation}: f(x)= {progress.cost}")
        if self.callback is not None and self._stops(deviation, mean):
            self.message = _STOPPED
        elif deviation <= self.atol + self.tol * mean:
            self.message = _FINISHED
        return self.message != _SPENT

    def _stops(self, deviation: float, mean: float) -> bool:
        """Return whether the user's callback ends the search."""
        assert self.callback is not None
        state = self.seen = self.population.result(self.generation)
        state.convergence = self.tol / (deviation / (mean + 1e-300) + 1e-300)
        try:
            if self._takes_result:
                return bool(self.callback(intermediate_result=state))
            return bool(self.callback(state.x.copy(), state.convergence))
        except StopIteration:
            return True
        except BaseException as error:
            self.population.error = error
            raise


def _settings(strategy: Any, mutation: Any, recombination: float) -> dict[str, Any]:
    """Return the settings of the search; reject what SciPy rejects."""
    name = strategy[:-3] if isinstance(strategy, str) and strategy[-3:] in ("bin", "exp") else None
    if callable(strategy):
        raise ValueError("strategy: functions are not supported. Pass a name, such as 'best1bin'")
    if name not in _STRATEGIES:
        raise ValueError("Please select a valid mutation strategy")
    try:
        weights = np.atleast_1d(np.asarray(mutation, float))
    except (TypeError, ValueError):
        weights = np.full(1, np.nan)
    if not (np.isfinite(weights).all() and ((weights >= 0) & (weights < 2)).all()):
        raise ValueError(messages.INVALID_MUTATION)
    if not (isinstance(recombination, Real) and 0 <= recombination <= 1):
        raise ValueError(
            f"The recombination constant must be a float in U[0, 1], not {recombination!r}"
        )
    settings: dict[str, Any] = {"strategy": _STRATEGIES[name]}
    if np.array_equal(weights, _MUTATION) and recombination == _RECOMBINATION:
        return {**settings, "adaptation": "nearby"}
    rates = {"F": float(weights.mean()), "Cr": float(recombination)}
    return {**settings, **rates, "adaptation": "none"}


def _require_counts(maxiter: Any, popsize: Any) -> None:
    """Reject an invalid number of generations, or of individuals per variable."""
    for name, value in (("maxiter", maxiter), ("popsize", popsize)):
        if value is None and name == "maxiter":
            continue
        if not is_whole(value):
            raise TypeError(f"{name} must be an integer, not {value!r}")
        if value < 0:
            raise ValueError(f"{name} must be at least 0, not {value}")


def _seed(rng: Any, seed: Any) -> int:
    """Return the seed, passed as either `rng` or `seed`."""
    if rng is not None and seed is not None:
        raise TypeError(messages.TWO_SEEDS)
    return seed_of(rng if seed is None else seed)


def seed_of(rng: Any) -> int:
    """Return an integer unchanged, or draw one from a generator."""
    if isinstance(rng, int | np.integer) and 0 <= rng <= _MOST_SEED:
        return int(rng)
    if isinstance(rng, np.random.RandomState):
        return int(rng.randint(_MOST_SEED))
    return int(np.random.default_rng(rng).integers(_MOST_SEED))


def _listed(constraints: Any) -> list[Any]:
    return [*constraints] if isinstance(constraints, list | tuple) else [constraints]


def _start(init: Any, x0: Any, popsize: int, variables: Variables, seed: int) -> Vectors:
    """Return the first population as vectors of the search."""
    free, (low, high) = variables.free, variables.search_bounds()
    random, count = np.random.default_rng(seed), max(_LEAST_POPULATION, popsize * len(low))
    if isinstance(init, str):
        if init not in ("latinhypercube", "sobol", "halton", "random"):
            raise ValueError(messages.UNKNOWN_POPULATION)
        places = random.random((count, len(low)))
        if init != "random":  # a Latin hypercube
            order = np.argsort(random.random((count, len(low))), axis=0)
            places = (order + places) / count
        rows = low + places * (high - low)
    else:
        given = _finite("init", init)
        if given.ndim != 2 or given.shape[1] != len(free) or len(given) < _LEAST_POPULATION:
            raise ValueError(
                "The population supplied needs to have shape (S, len(x)), where S > 4."
            )
        rows = given[:, free]
    if x0 is not None:
        first, (least, most) = _finite("x0", x0), variables.given.T
        if first.shape != free.shape or (first < least).any() or (first > most).any():
            raise ValueError("Some entries in x0 lay outside the specified bounds")
        rows[0] = first[free]
    return np.clip(rows, low, high)


def _finite(name: str, values: Any) -> Vectors:
    """Return an argument as an array of finite numbers."""
    array = np.asarray(values, float)
    if not np.isfinite(array).all():
        raise ValueError(f"Some entries in {name} are not finite")
    return array


@contextmanager
def _mapping(
    workers: Any, updating: str, *, vectorized: bool
) -> Iterator[Callable[[Callable[..., Any], Vectors], Any] | None]:
    """Yield a function that calls another one for each vector, or None if one call takes all."""
    if updating not in ("immediate", "deferred"):
        raise ValueError(f"updating should be 'immediate' or 'deferred', not {updating!r}")
    overrides = "differential_evolution: the {} keyword {}"
    if workers != 1 and vectorized:
        warnings.warn(
            overrides.format("'workers'", "overrides the 'vectorized' keyword"), stacklevel=5
        )
    elif (workers != 1 or vectorized) and updating == "immediate":
        name = "'workers'" if workers != 1 else "'vectorized'"
        fact = "has overridden updating='immediate' to updating='deferred'"
        warnings.warn(overrides.format(name, fact), UserWarning, stacklevel=5)
    if callable(workers):
        yield lambda function, rows: [*workers(function, rows)]
    elif workers == 1:
        yield None if vectorized else lambda function, rows: [*map(function, rows)]
    else:
        count = int(workers)
        if count < 1 and count != -1:
            raise RuntimeError(
                "Number of workers specified must be -1, an int >= 1, or an object with a 'map'"
                " method"
            )
        with multiprocessing.Pool(None if count == -1 else count) as pool:
            yield pool.map


def _polish(result: Any, polish: Any, function: Function, constraints: Any) -> None:
    """Improve a result by a local search that keeps integers fixed."""
    from scipy.optimize import Bounds, OptimizeResult, minimize

    bounds = function.variables.low, function.variables.high
    low, high = (np.where(function.variables.is_integral, result.x, bound) for bound in bounds)
    others = []
    for constraint in _listed(constraints):
        if isinstance(constraint, Bounds):
            low, high = np.maximum(low, constraint.lb), np.minimum(high, constraint.ub)
        else:
            others.append(constraint)
    if (low > high).any():
        return  # no vector is feasible
    given: dict[str, Any] = {"bounds": Bounds(low, high), "constraints": others}
    before = function.calls
    if callable(polish):
        better = polish(function.one, result.x.copy(), **given)
        if not isinstance(better, OptimizeResult):
            raise ValueError(
                "The result from a user defined polishing function should return an OptimizeResult."
            )
    else:
        method = "trust-constr" if given["constraints"] else "L-BFGS-B"
        if method == "L-BFGS-B":
            del given["constraints"]
        better = minimize(function.one, result.x.copy(), method=method, **given)
    result.nfev += function.calls - before
    inside = (better.x >= low).all() and (better.x <= high).all()
    before_and_after = function.violations(np.array([result.x, better.x]))
    is_better = before_and_after[1] < before_and_after[0] or better.fun < result.fun
    # A local search satisfies equations only up to rounding.
    if inside and is_better and before_and_after[1] <= max(before_and_after[0], _ROUNDING):
        result.x, result.fun = np.asarray(better.x, float), np.float64(better.fun)
        result.jac = better.get("jac")
        result.population[0], result.population_energies[0] = result.x, result.fun
