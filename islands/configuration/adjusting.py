"""Adjust settings to the cost of local search, so that a generation takes less than half a second.

The time of a search is estimated, not measured. It depends on the backend, but not on the model of
the GPU or the number of cores, so that a command gives the same run on any device of a backend.
"""

import dataclasses
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.backends import is_gpu
from islands.configuration.fit import require_population
from islands.configuration.spec import RunSpec
from islands.encodings import base_encoding
from islands.errors import UsageError
from islands.improvers import Improver, improvers_for
from islands.improvers.base import MOST_STEPS
from islands.problems.base import Problem
from islands.text import either

_TARGET_SECONDS = 0.2
_LONGEST_SEARCH = 0.5  # maximum seconds of a search if only one runs at a time
_TOLERANCE = 1.25  # factor by which an estimate may exceed the target
_READ_SECONDS = 2e-9  # for a CPU thread to read and add a number
_FEWEST = 16  # minimum population
_CORE = 60  # items of medium utility; more are rarely useful
_LARGEST_CUT = 5  # a tabu search with a fifth of its default steps is still useful


@dataclass(frozen=True)
class _Device:
    name: str
    searches: int
    """Number of concurrent searches, each about as fast as on a CPU thread."""
    individuals: int
    """Minimum number of individuals over all islands."""


_CPU = _Device("the CPU", searches=2, individuals=128)
_GPU = _Device("a GPU", searches=256, individuals=512)  # at least two blocks per multiprocessor


def adjusted(
    spec: RunSpec,
    problem: Problem,
    given: Collection[str],
    usual: Mapping[str, Any],
    islands: int,
) -> RunSpec:
    """Return the run with settings adjusted to its improver, except those in `given`.

    `usual` are the defaults of the problem, which were tuned on a GPU; `islands` is the number of
    islands of the whole run, of which `spec` may be a colony.
    """
    on_gpu = is_gpu(spec.general.backend)
    if on_gpu and "improver.name" in usual:
        return spec
    adjustment = _Adjustment(spec, problem, _GPU if on_gpu else _CPU, islands)
    if "population" not in given:
        adjustment.lower_population()
    if "improver.steps" not in given:
        adjustment.lower_steps()
    if "improver.core" not in given:
        adjustment.lower_core()
    if "improver.rate" not in given:
        adjustment.lower_rate()
    if "improver.steps" not in given:
        adjustment.limit_steps()
    lines = filter(None, [spec.adjusted, adjustment.message(spec)])
    return dataclasses.replace(adjustment.spec, adjusted="\n".join(lines))


class _Adjustment:
    """Shortens the generations of a run by changing one setting after another."""

    def __init__(self, spec: RunSpec, problem: Problem, device: _Device, islands: int) -> None:
        self.spec, self._problem, self._device, self._islands = spec, problem, device, islands

    def lower_population(self) -> None:
        """Halve the population while generations are too long, down to the minimum that fits."""
        population, islands = self.spec.general.population, self.spec.general.islands
        while self._excess() > _TOLERANCE:
            population //= 2
            if population < max(_FEWEST, self._device.individuals / islands):
                return
            general = self.spec.general.replace({"population": population})
            smaller = dataclasses.replace(self.spec, general=general)
            if _is_possible(smaller, self._islands):
                self.spec = smaller

    def lower_steps(self) -> None:
        """Lower the steps of a search, but not below a fifth of the default."""
        steps, excess = self._improver().steps(), self._excess()
        if steps and excess > _TOLERANCE:
            self._set_improver(steps=math.ceil(_rounded(max(steps / excess, steps / _LARGEST_CUT))))

    def lower_core(self) -> None:
        """Limit the search to fewer items of a subset, if items are ordered by utility."""
        if self._problem.layout.sorts_items and self._excess() > _TOLERANCE:
            core = self._problem.size / math.sqrt(self._excess())
            self._set_improver(core=min(self._problem.size, math.ceil(max(_CORE, core))))

    def lower_rate(self) -> None:
        """Improve fewer individuals, but at least one per concurrent search."""
        rate, excess = self.spec.improver.rate, self._excess()
        if excess > _TOLERANCE:
            least = self._device.searches / self._individuals()
            self._set_improver(rate=_rounded(min(rate, max(rate / excess, least))))

    def limit_steps(self) -> None:
        """Limit the steps so that a single search fits into a generation."""
        most = self._improver().steps() or self._problem.size
        allowed = _LONGEST_SEARCH / max(1.0, self._turns())
        if self._seconds() > allowed * _TOLERANCE:
            self._set_improver(steps=1)
            steps = _rounded(allowed / self._seconds())
            self._set_improver(steps=max(1, min(int(steps), most, MOST_STEPS)))

    def message(self, requested: RunSpec) -> str:
        """Return the message about the adjusted settings; empty without changes."""
        before, after = self._named(requested), self._named(self.spec)
        changes = [
            f"{name} {before[name]} -> {value}"
            for name, value in after.items()
            if value != before[name]
        ]
        if not changes:
            return ""
        return (
            f"{either(changes, 'and')}, as {requested.improver.name} on {self._device.name} would"
            " take too long. Set them explicitly to prevent this"
        )

    def _named(self, spec: RunSpec) -> dict[str, str]:
        """Return the adjustable settings as text."""
        steps = _improver(spec, self._problem).steps()
        return {
            "population": str(spec.general.population),
            "improver.steps": str(steps or "no limit"),
            "improver.core": str(spec.improver.core or self._problem.size),
            "improver.rate": f"{spec.improver.rate:g}",
        }

    def _set_improver(self, **values: Any) -> None:
        self.spec = dataclasses.replace(self.spec, improver=self.spec.improver.replace(values))

    def _improver(self) -> Improver:
        return _improver(self.spec, self._problem)

    def _seconds(self) -> float:
        """Return the estimated seconds of a search."""
        return self._improver().work(self._problem) * _READ_SECONDS

    def _individuals(self) -> int:
        return self.spec.general.islands * self.spec.general.population

    def _excess(self) -> float:
        """Return the estimated time of a generation, relative to the target."""
        return self._turns() * self._seconds() / _TARGET_SECONDS

    def _turns(self) -> float:
        """Return the mean number of consecutive searches per generation, on a single device."""
        improver = self.spec.improver
        return self._individuals() * improver.rate / improver.every / self._device.searches


def _is_possible(spec: RunSpec, islands: int) -> bool:
    """Return whether the algorithm and the migration support the population."""
    kind, population = ALGORITHMS[spec.algorithm], spec.general.population
    try:
        algorithm = kind(spec.settings, population, base_encoding(spec.encoding))
        require_population(spec, population, algorithm, islands)
    except UsageError:
        return False
    return True


def _improver(spec: RunSpec, problem: Problem) -> Improver:
    return improvers_for(problem.solution_kind)[spec.improver.name](spec.improver, problem.size)


def _rounded(number: float) -> float:
    """Return a number rounded to two significant digits."""
    return float(f"{number:.2g}")
