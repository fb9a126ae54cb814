"""Other programs on the problems of `islands.models`: CP-SAT, and the samplers of D-Wave.

What they get are plain numbers, as models have functions that other processes cannot read.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.bench.rival import Answer, Rival
from islands.modelling.model import Model
from islands.models.job_shops import Shop
from islands.problems.base import Problem

Course = list[tuple[float, float]]
_MOST_IN_MATRIX = 10_000
"""Items of a quadratic problem, of which tabu search makes a matrix of doubles."""
_SWEEPS = 1000
"""Those of a first annealing: the default of D-Wave's sampler."""


def _members(problem: Problem, *names: str) -> dict[str, Any] | None:
    """Return the data of a model if it has exactly these; None for other problems."""
    found = problem.members if isinstance(problem, Model) else {}
    return dict(found) if set(found) == set(names) else None


def _best(problem: Problem) -> float | None:
    return None if problem.best_known is None else problem.best_known.value


@dataclass(frozen=True)
class JobShop:
    """A job shop, and its best known value."""

    shop: Shop
    best: float | None


def shop_of(problem: Problem) -> JobShop | None:
    """Return the job shop that a model is; None for another one."""
    found = _members(problem, "first", "job", "machine", "time")
    return None if found is None else JobShop(Shop(**found), _best(problem))


@dataclass(frozen=True)
class Covering:
    """The costs of columns, and the columns of each row."""

    costs: NDArray[np.int64]
    column: NDArray[np.int32]
    row_first: NDArray[np.int64]
    best: float | None

    def matrix(self) -> Any:
        """Return a sparse matrix with a row for each row."""
        from scipy.sparse import csr_array

        shape = len(self.row_first) - 1, len(self.costs)
        return csr_array((np.ones(len(self.column)), self.column, self.row_first), shape=shape)

    def cost(self, chosen: NDArray[Any]) -> int:
        """Return the cost of a cover."""
        return int(self.costs @ chosen)


def covering_of(problem: Problem) -> Covering | None:
    """Return the covering that a model is; None for another one."""
    found = _members(problem, "rows", "cost", "price", "row_first", "column", "first", "row")
    if found is None:
        return None
    return Covering(found["cost"], found["column"], found["row_first"], _best(problem))


@dataclass(frozen=True)
class Quadratic:
    """A sum of numbers of single items and of pairs, both chosen, which shall be small."""

    single: NDArray[np.float64]
    pairs: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
    """The items and the number of each pair."""
    sign: int
    """-1 if the cost is the negative sum."""
    best: float | None

    def model(self) -> Any:
        """Return it in D-Wave's form."""
        form: Any = import_module("dimod").BinaryQuadraticModel
        return form.from_numpy_vectors(self.single, self.pairs, 0.0, "BINARY")

    def cost(self, chosen: NDArray[Any]) -> float:
        """Return the cost of a choice of items."""
        one, two, by = self.pairs
        is_chosen = chosen == 1
        # No product of matrices, whose threads would wait for each other on busy cores.
        total = self.single[is_chosen].sum() + by[is_chosen[one] & is_chosen[two]].sum()
        sum_of = self.sign * float(total)
        return int(sum_of) if sum_of.is_integer() else sum_of


def quadratic_of(problem: Problem) -> Quadratic | None:
    """Return the quadratic problem that a model is, also of a cut; None for another one."""
    sign = -1 if problem.maximise else 1
    if (cut := _members(problem, "first", "other", "weight")) is not None:
        # An edge is between the sides if one of its nodes is chosen: x + y - 2 x y.
        weight = sign * cut["weight"].astype(np.float64)
        single, by = np.add.reduceat(np.append(weight, 0.0), cut["first"][:-1]), -2 * weight
        single[np.diff(cut["first"]) == 0] = 0.0
    elif (cut := _members(problem, "first", "other", "both", "diagonal")) is not None:
        single, by = (sign * cut[name].astype(np.float64) for name in ("diagonal", "both"))
    else:
        return None
    two = cut["other"].astype(np.int64)[: cut["first"][-1]]
    one = np.repeat(np.arange(len(single)), np.diff(cut["first"]))
    once = one > two
    return Quadratic(single, (one[once], two[once], by[: len(two)][once]), sign, _best(problem))


class CpSat(Rival):
    """CP-SAT of OR-tools, with a worker for each thread, on job shops and coverings."""

    name: ClassVar[str] = "cpsat"
    package: ClassVar[str] = "ortools"
    module: ClassVar[str] = "ortools"
    is_parallel: ClassVar[bool] = True

    def refusal(self, problem: Problem) -> str | None:
        """Refuse other problems."""
        fits = self.given(problem) is not None
        return None if fits else "solves job shops with fixed machines, and coverings, only"

    def given(self, problem: Problem) -> Any:
        """Return a job shop or a covering."""
        return shop_of(problem) or covering_of(problem)

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Run it once."""
        from ortools.sat.python import cp_model

        model, solver = cp_model.CpModel(), cp_model.CpSolver()
        is_shop = isinstance(problem, JobShop)
        values = _shop_in(model, problem.shop) if is_shop else _covering_in(model, problem)
        course: Course = []
        began = time.perf_counter()

        callback: Any = cp_model.CpSolverSolutionCallback

        class Seen(callback):  # type: ignore[misc]
            def on_solution_callback(self) -> None:
                course.append((time.perf_counter() - began, round(self.objective_value)))
                if problem.best is not None and self.objective_value <= problem.best:
                    self.stop_search()

        solver.parameters.num_workers, solver.parameters.random_seed = threads, seed
        solver.parameters.max_time_in_seconds = seconds
        status = solver.solve(model, Seen())
        taken = time.perf_counter() - began
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer((), None, taken)
        found = np.array([solver.value(each) for each in values])
        if is_shop:
            # By their begins; those that take no time come before others of the same machine.
            found = np.lexsort((np.arange(len(found)), found + problem.shop.time, found))
            cost = max(end for *_, end in problem.shop.schedule(found))
        else:
            cost = problem.cost(found)
        if not course or cost < course[-1][1]:
            course.append((taken, cost))
        return Answer(course, found.tolist(), taken, proved=status == cp_model.OPTIMAL)


def _shop_in(model: Any, shop: Shop) -> list[Any]:
    """State a job shop by intervals; return when each operation begins."""
    times, most = shop.time.tolist(), int(shop.time.sum())
    begins = [model.new_int_var(0, most, "") for _ in times]
    last = model.new_int_var(0, most, "")
    on_machine: dict[int, list[Any]] = {}
    for o, (begin, lasting, machine) in enumerate(
        zip(begins, times, shop.machine.tolist(), strict=True)
    ):
        interval = model.new_fixed_size_interval_var(begin, lasting, "")
        on_machine.setdefault(machine, []).append(interval)
        follows = o + 1 < len(times) and shop.job[o + 1] == shop.job[o]
        model.add(begin + lasting <= (begins[o + 1] if follows else last))
    for intervals in on_machine.values():
        model.add_no_overlap(intervals)
    model.minimize(last)
    return begins


def _covering_in(model: Any, covering: Covering) -> list[Any]:
    """State a covering; return whether each column is chosen."""
    chosen = [model.new_bool_var("") for _ in covering.costs]
    for first, end in zip(covering.row_first[:-1], covering.row_first[1:], strict=True):
        model.add_bool_or([chosen[j] for j in covering.column[first:end].tolist()])
    model.minimize(sum(int(by) * each for by, each in zip(covering.costs, chosen, strict=True)))
    return chosen


def _dwave() -> Any:
    return import_module("dwave.samplers")


class Sampler(Rival):
    """A sampler of D-Wave, on quadratic problems and cuts."""

    package: ClassVar[str] = "dwave-samplers"
    module: ClassVar[str] = "dwave"
    most: ClassVar[float] = np.inf

    def refusal(self, problem: Problem) -> str | None:
        """Refuse other problems, and those that are too large."""
        if quadratic_of(problem) is None:
            return "solves quadratic binary problems and cuts only"
        return None if problem.size <= self.most else f"takes at most {self.most:,g} items here"

    def given(self, problem: Problem) -> Any:
        """Return the quadratic problem."""
        return quadratic_of(problem)

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Sample again and again."""
        model = problem.model()
        began = time.perf_counter()
        course: Course = []
        best: NDArray[Any] | None = None
        self.begin()
        while (left := seconds - (time.perf_counter() - began)) > 0 or best is None:
            found = self.sample(model, seed, max(left, 0.01), problem)
            seed += 1_000_003  # far from the seeds of other copies
            first = found.first.sample
            chosen = np.array([first[i] for i in range(len(first))])
            cost = problem.cost(chosen)
            if best is None or problem.sign * cost < problem.sign * course[-1][1]:
                best = chosen
                course.append((time.perf_counter() - began, cost))
            if problem.best is not None and problem.sign * (cost - problem.best) <= 0:
                break
        return Answer(course, best.tolist(), time.perf_counter() - began)

    def begin(self) -> None:
        """Prepare for the first sample."""

    @abstractmethod
    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Return samples that take at most about the given seconds."""


class DwaveTabu(Sampler):
    """Its tabu search, for the whole time; only the end of a run tells its cost."""

    name: ClassVar[str] = "dwave-tabu"
    most: ClassVar[float] = _MOST_IN_MATRIX

    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Search until the time is up."""
        options: dict[str, Any] = {"timeout": max(1, int(1000 * seconds)), "num_reads": 1}
        if problem.best is not None:
            options["energy_threshold"] = problem.sign * problem.best
        return _dwave().TabuSampler().sample(model, seed=seed % 2**31, **options)


class DwaveAnnealing(Sampler):
    """Its simulated annealing: with the default of 1000 sweeps, then with twice as many each time.

    The last one takes the time that is left.
    """

    name: ClassVar[str] = "dwave-annealing"

    def begin(self) -> None:
        """Begin with the default."""
        self._sweeps, self._rate = _SWEEPS // 2, 0.0

    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Cool down once."""
        fitting = int(self._rate * seconds) if self._rate else _SWEEPS
        self._sweeps = max(1, min(2 * self._sweeps, fitting))
        if fitting < 2 * self._sweeps + _SWEEPS:
            self._sweeps = max(1, fitting)  # what would remain is too short for another one
        began = time.perf_counter()
        found = (
            _dwave()
            .SimulatedAnnealingSampler()
            .sample(model, num_reads=1, num_sweeps=self._sweeps, seed=seed % 2**31)
        )
        self._rate = self._sweeps / (time.perf_counter() - began)
        return found


MODEL_RIVALS: tuple[Rival, ...] = (CpSat(), DwaveTabu(), DwaveAnnealing())
