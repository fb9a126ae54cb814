"""Measure how many generations an archipelago computes per second."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import median
from typing import Any

import numpy as np

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import MEASURE
from islands.archipelago.shared import SharedRuns, parts_for
from islands.backends import choose
from islands.backends.base import Backend
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.resolved import Resolved
from islands.configuration.spec import RunSpec
from islands.engine.budget import colonies_of
from islands.engine.build import islands_of
from islands.errors import IslandsError
from islands.parallel import World
from islands.problems.base import Problem
from islands.studies.bench.base import BenchRequest, spread, timed
from islands.tables import Row, Table

_REPEATS = {"cuda": 5, "cpu": 3}
"""Timed repeats, after a first one that is not counted."""
_COPY_BYTES = {"cuda": 2 << 30, "cpu": 256 << 20}


@dataclass(frozen=True)
class Throughput:
    """The speed of an archipelago on one instance."""

    backend: Backend
    problem: Problem
    spec: RunSpec
    bench: AlgorithmBench
    setting: str
    """The name of its settings in `AlgorithmBench.settings`."""
    runs: int
    """Concurrent runs."""
    reference: Any
    """The value of the instance in `AlgorithmBench.instances`."""
    generations: int
    """Generations of a repeat."""
    milliseconds: float
    """Time of one generation of all runs: the median of the repeats."""
    spread: float
    """(longest - shortest) / median of the repeats."""
    evaluations: float
    """Calls of the objective in one generation of all runs."""
    cost: int

    def per_second(self, count: float) -> float:
        """Return a count per generation as a rate per second."""
        return 1000 * count / self.milliseconds

    @property
    def seconds_a_run(self) -> float:
        """The seconds of one run, with as many generations as a published run."""
        return self.bench.whole_run * self.milliseconds / 1000 / self.runs


@dataclass(frozen=True)
class AlgorithmBench:
    """The throughput benchmark of one algorithm, an entry of `algorithms.toml`."""

    text: str
    """The description that is printed above the table."""
    table: Table
    instances: Mapping[str, Any]
    """Full names of the instances, each with a reference value."""
    settings: Mapping[str, Mapping[str, Any]]
    """The options of a run, by the name of the setting."""
    read: Callable[[str, Any], Problem]
    """Reads an instance from its name and reference value."""
    runs: Mapping[str, Sequence[int]] = field(default_factory=lambda: {"cuda": (1,), "cpu": (1,)})
    """Numbers of concurrent runs by backend."""
    seconds: Mapping[str, float] = field(default_factory=lambda: {"cpu": 2.0})
    """Maximum seconds of a repeat by backend."""
    warm_up: int = 2
    """Generations before the first repeat; also the minimum of a repeat."""
    most: int | None = None
    """Maximum generations of a repeat, for a search that converges; None for no maximum."""
    whole_run: int = 0
    """Generations of a published run."""
    threads: int | None = None
    """CPU threads unless requested otherwise; None uses all cores."""
    cpu_options: Mapping[str, Any] = field(default_factory=dict)
    """Options that replace others on the CPU."""

    def measure(self, request: BenchRequest) -> Iterator[Row]:
        """Measure all settings on each backend and instance; skip missing instances."""
        for name in request.backends:
            backend = choose(name, request.threads or self.threads)
            limit = self.seconds.get(name)
            variants = [(label, runs) for label in self.settings for runs in self.runs[name]]
            whole = None if limit is None else len(variants) * (1 + _REPEATS[name]) * limit
            words = f"{{}} on {name}".format
            for instance in request.heartbeat.over(self.instances, words, seconds=whole):
                reference = self.instances[instance]
                try:
                    problem = self.read(instance, reference)
                except IslandsError:
                    request.heartbeat.skip()
                    continue
                for label, runs in variants:
                    result = self.measured(
                        backend, problem, label, runs, reference, request.generations
                    )
                    yield self.table.row_of(result)

    def measured(
        self,
        backend: Backend,
        problem: Problem,
        label: str,
        runs: int,
        reference: Any,
        generations: int,
    ) -> Throughput:
        """Measure a problem with one of the settings, by repeats of up to `generations` each."""
        options = {**self.settings[label], **(self.cpu_options if backend.name == "cpu" else {})}
        resolved = resolve(Request.of(options), problem)
        spec = resolved.spec
        if runs == 1:
            islands: _OneRun | _SeveralRuns = _OneRun(islands_of(resolved, World(), backend), spec)
        else:
            islands = _SeveralRuns(resolved, runs, backend)
        with backend.timed() as first:
            islands.advance(self.warm_up)
        generations = min(generations, self.most or generations)
        limit = self.seconds.get(backend.name)
        if limit is not None:
            affordable = int(1000 * limit / (first[0] / self.warm_up))
            generations = max(self.warm_up, min(generations, affordable))
        before, repeats = islands.evaluations(), _REPEATS[backend.name]
        times = timed(backend, repeats, lambda: islands.advance(generations))
        evaluations = islands.evaluations() - before
        return Throughput(
            backend=backend,
            problem=problem,
            spec=spec,
            bench=self,
            setting=label,
            runs=runs,
            reference=reference,
            generations=generations,
            milliseconds=median(times) / generations,
            spread=spread(times),
            evaluations=evaluations / ((1 + repeats) * generations),
            cost=islands.cost(),
        )


class _OneRun:
    """The islands of a run."""

    def __init__(self, archipelago: Archipelago, spec: RunSpec) -> None:
        """Create generation 0."""
        self._islands = archipelago
        self._interval = spec.migration.interval if spec.migrates else None
        archipelago.start()

    def advance(self, generations: int) -> None:
        """Advance by the given number of generations and migrate after each interval."""
        interval = self._interval or generations
        for done in range(0, generations, interval):
            step = min(interval, generations - done)
            self._islands.advance(step)
            if step == self._interval:
                self._islands.migrate()

    def evaluations(self) -> int:
        """Return the number of calls of the objective so far."""
        return sum(measures.evaluations for measures in self._islands.measure())

    def cost(self) -> int:
        """Return the best cost."""
        return self._islands.elite(1)[0].cost


class _SeveralRuns:
    """The islands of runs with consecutive seeds and without migration, which share launches."""

    def __init__(self, resolved: Resolved, runs: int, backend: Backend) -> None:
        """Create generation 0."""
        spec = resolved.spec
        assert not spec.migrates, "these benchmarks have none"
        [colony] = colonies_of(resolved)
        parts = parts_for(colony, resolved.problem, runs, backend)
        self._islands = SharedRuns(colony.islands, parts, None, runs, backend, migration=None)
        self._seeds = [*range(spec.general.seed, spec.general.seed + runs)]
        self._islands.begin(range(runs), [None] * runs, self._seeds)

    def advance(self, generations: int) -> None:
        """Advance by the given number of generations."""
        self._islands.advance(generations, [], self._seeds)

    def evaluations(self) -> int:
        """Return the number of calls of the objective so far, in all runs."""
        return int(self._islands.measured()[..., MEASURE.index("calls")].sum())

    def cost(self) -> int:
        """Return the best cost in the populations of all runs, without their archives."""
        return int(self._islands.measured()[..., MEASURE.index("best")].min())


@cache
def copy_bandwidth(backend: Backend) -> float:
    """Return the bytes per second that a large copy reads and writes: the median of the repeats."""
    size = _COPY_BYTES[backend.name]
    source = backend.zeros((size,), np.uint8)
    target = backend.empty((size,), np.uint8)
    times = timed(backend, 7, lambda: backend.copy(source, target))
    return 1000 * 2 * size / median(times)
