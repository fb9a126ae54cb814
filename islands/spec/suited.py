"""What a run gets where an improver is named, and not how many it improves and how far.

A generation is then to take less than half a second. What a search costs is counted, not measured,
and of the device only the name of its backend counts: a command means the same on all alike.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from islands.algorithms import ALGORITHMS
from islands.backends import takes_gpu
from islands.encodings import moved_as
from islands.errors import UsageError
from islands.improvers import Improver, improvers_for
from islands.improvers.base import MOST_STEPS
from islands.migration import TOPOLOGIES, migrates
from islands.migration.halo import require_fit
from islands.problems.base import Problem
from islands.spec.spec import RunSpec

_SECONDS = 0.2
_LONGEST = 0.5  # seconds of a search, where no more than one is made at a time
_TOLERATED = 1.25  # times as long, of what is an estimate anyway
_LOOK_SECONDS = 2e-9  # for a number that a thread of a CPU looks up and adds
_FEWEST = 16  # individuals that make a population
_CORE = 60  # items of doubtful utility: of more, few are worth the search
_SHARE_OF_STEPS = 5  # tabu searches lead somewhere if they take a fifth of their usual steps


@dataclass(frozen=True)
class _Device:
    words: str
    searches: int
    """How many it makes at a time, each about as fast as a thread of a CPU would."""
    individuals: int
    """How many there are at least, over all islands."""


_CPU = _Device("the CPU", searches=2, individuals=128)
_GPU = _Device("a GPU", searches=256, individuals=512)  # two blocks a multiprocessor, at least


def suited(
    spec: RunSpec, problem: Problem, given: Collection[str], usual: Mapping[str, Any]
) -> RunSpec:
    """Return the run with what fits its improver, of all that is not `given` by its name.

    The `usual` settings, which the problem has where nothing else is asked for, suit a GPU.
    """
    if spec.improver.name == "none":
        return spec
    on_gpu = takes_gpu(spec.general.backend)
    if on_gpu and "improver.name" in usual:
        return spec
    fitting = _Fitting(spec, problem, _GPU if on_gpu else _CPU)
    if "population" not in given:
        fitting.lower_population()
    if "improver.steps" not in given:
        fitting.lower_steps(_SHARE_OF_STEPS)
    if "improver.core" not in given:
        fitting.lower_core()
    if "improver.rate" not in given:
        fitting.lower_rate()
    if "improver.steps" not in given:
        fitting.limit_steps()
    return dataclasses.replace(fitting.spec, adjusted=fitting.words(spec))


class _Fitting:
    """A run on its way to generations that are short enough."""

    def __init__(self, spec: RunSpec, problem: Problem, device: _Device) -> None:
        self.spec, self._problem, self._device = spec, problem, device

    def lower_population(self) -> None:
        """Halve the population while generations are too long, down to the fewest that fit."""
        population, islands = self.spec.general.population, self.spec.general.islands
        while self._excess() > _TOLERATED:
            population //= 2
            if population < max(_FEWEST, self._device.individuals / islands):
                return
            general = self.spec.general.replace({"population": population})
            smaller = dataclasses.replace(self.spec, general=general)
            if _is_possible(smaller):
                self.spec = smaller

    def lower_steps(self, share: int) -> None:
        """Take fewer steps of a search that has a number of its own, down to a share of it."""
        steps, excess = self._improver().steps(), self._excess()
        if steps and excess > _TOLERATED:
            self._improve(steps=math.ceil(_rounded(max(steps / excess, steps / share))))

    def lower_core(self) -> None:
        """Let fewer items of a subset change, where it is known which are of doubtful utility."""
        if self._problem.ranks_items and self._excess() > _TOLERATED:
            core = self._problem.size / math.sqrt(self._excess())
            self._improve(core=min(self._problem.size, math.ceil(max(_CORE, core))))

    def lower_rate(self) -> None:
        """Improve fewer individuals, down to one for each search that is made at a time."""
        rate, excess = self.spec.improver.rate, self._excess()
        if excess > _TOLERATED:
            least = self._device.searches / self._individuals()
            self._improve(rate=_rounded(min(rate, max(rate / excess, least))))

    def limit_steps(self) -> None:
        """Let no search take longer than a generation may."""
        whole, most = self._seconds(), self._improver().steps() or self._problem.size
        allowed = _LONGEST / max(1.0, self._turns())
        if whole > allowed * _TOLERATED:
            self._improve(steps=1)
            steps = _rounded(allowed / self._seconds())
            self._improve(steps=max(1, min(int(steps), most, MOST_STEPS)))

    def words(self, asked: RunSpec) -> str:
        """Return what differs from what was asked for, and why; nothing where nothing does."""
        before, after = self._named(asked), self._named(self.spec)
        changes = [
            f"{name} {before[name]} -> {value}"
            for name, value in after.items()
            if value != before[name]
        ]
        if not changes:
            return ""
        listed = " and ".join(filter(None, [", ".join(changes[:-1]), changes[-1]]))
        return (
            f"{listed}, as {asked.improver.name} on {self._device.words} would take long: name"
            " them to choose yourself"
        )

    def _named(self, spec: RunSpec) -> dict[str, str]:
        """Return the settings that may be adjusted, in words."""
        steps = _improver(spec, self._problem).steps()
        return {
            "population": str(spec.general.population),
            "improver.steps": str(steps or "without limit"),
            "improver.core": str(spec.improver.core or self._problem.size),
            "improver.rate": f"{spec.improver.rate:g}",
        }

    def _improve(self, **values: Any) -> None:
        self.spec = dataclasses.replace(self.spec, improver=self.spec.improver.replace(values))

    def _improver(self) -> Improver:
        return _improver(self.spec, self._problem)

    def _seconds(self) -> float:
        """Return about how long a search takes."""
        return self._improver().work(self._problem) * _LOOK_SECONDS

    def _individuals(self) -> int:
        return self.spec.general.islands * self.spec.general.population

    def _excess(self) -> float:
        """Return how many times as long as wanted a generation takes."""
        return self._turns() * self._seconds() / _SECONDS

    def _turns(self) -> float:
        """Return how many searches follow each other in a generation, the mean over all of them.

        All islands are thought of as on one device.
        """
        improver = self.spec.improver
        return self._individuals() * improver.rate / improver.every / self._device.searches


def _is_possible(spec: RunSpec) -> bool:
    """Return whether a population of that size is, for the algorithm and the migration."""
    general, migration = spec.general, spec.migration
    islands, population = general.islands, general.population
    try:
        algorithm = ALGORITHMS[spec.algorithm](spec.settings, population, moved_as(spec.encoding))
        algorithm.require_islands(islands)
        if algorithm.halo:
            require_fit(algorithm.halo, population, migration, islands, runs=1)
    except UsageError:
        return False
    room = population - max(1, algorithm.kept())
    arriving = 0
    if migrates(migration, islands):
        sources = TOPOLOGIES[migration.topology].widest(islands, general.seed)
        arriving = max(1, sources) * migration.migrants
    return arriving <= room and len(spec.start) <= islands * population


def _improver(spec: RunSpec, problem: Problem) -> Improver:
    return improvers_for(problem.solution_kind)[spec.improver.name](spec.improver, problem.size)


def _rounded(number: float) -> float:
    """Return a number with two digits that count."""
    return float(f"{number:.2g}")
