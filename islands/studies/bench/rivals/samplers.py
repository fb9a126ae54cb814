"""The samplers of D-Wave, on quadratic models."""

from __future__ import annotations

import time
from abc import abstractmethod
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.models.plain import Quadratic
from islands.problems.base import Problem
from islands.studies.bench.quality_runs import Course
from islands.studies.bench.rivals.base import Answer, Rival

_SWEEPS = 1000
"""Those of a first annealing: the default of D-Wave's sampler."""


def _dwave() -> Any:
    return import_module("dwave.samplers")


def _binary(problem: Quadratic) -> Any:
    """Return a problem in D-Wave's form, in which a wrong number of items has a price."""
    form: Any = import_module("dimod").BinaryQuadraticModel
    single, (one, two, by), constant = problem.single, problem.pairs, 0.0
    if problem.size is not None:
        # For the square of the difference, no less than an item can win.
        pairs, price = np.tril_indices(len(single), -1), problem.size * float(np.abs(by).max())
        one, two = (np.concatenate(each) for each in zip((one, two), pairs, strict=True))
        by = np.concatenate([by, np.full(len(pairs[0]), 2 * price)])
        single = single + price * (1 - 2 * problem.size)
        constant = price * problem.size**2
    return form.from_numpy_vectors(single, (one, two, by), constant, "BINARY")


class Sampler(Rival):
    """A sampler of D-Wave, on quadratic problems, cuts and diversities."""

    statements = (Quadratic,)
    most: ClassVar[float] = np.inf

    def refusal(self, problem: Problem) -> str | None:
        """Refuse other problems, and those that are too large."""
        if why := super().refusal(problem):
            return why
        return None if problem.size <= self.most else f"takes at most {self.most:,g} items here"

    def solve(self, problem: Any, seed: int, seconds: float, threads: int = 1) -> Answer:
        """Sample again and again."""
        model = _binary(problem)
        course = Course(maximise=problem.sign < 0)
        best: NDArray[Any] | None = None
        self.begin()
        while (left := seconds - course.passed()) > 0 or best is None:
            found = self.sample(model, seed, max(left, 0.01), problem)
            seed += 1_000_003  # far from the seeds of other copies
            first = found.first.sample
            chosen = np.array([first[i] for i in range(len(first))])
            cost = problem.cost(chosen)
            course.now(cost)
            if best is None or course.points[-1][1] == cost:
                best = chosen
            if problem.best is not None and problem.sign * (cost - problem.best) <= 0:
                break
        return Answer(course.points, best.tolist(), course.passed())

    def begin(self) -> None:
        """Prepare for the first sample."""

    @abstractmethod
    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Return samples that take at most about the given seconds."""


class DwaveTabu(Sampler, of="dwave-tabu"):
    """Its tabu search, for the whole time; only the end of a run tells its cost."""

    def sample(self, model: Any, seed: int, seconds: float, problem: Quadratic) -> Any:
        """Search until the time is up."""
        options: dict[str, Any] = {"timeout": max(1, int(1000 * seconds)), "num_reads": 1}
        if problem.best is not None:
            options["energy_threshold"] = problem.sign * problem.best
        return _dwave().TabuSampler().sample(model, seed=seed % 2**31, **options)


class DwaveAnnealing(Sampler, of="dwave-annealing"):
    """Its simulated annealing: with the default of 1000 sweeps, then with twice as many each time.

    The last one takes the time that is left.
    """

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
