"""Scaling over 1, 2, 4, ... of the started ranks, and the time of an epoch's end by phase."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from operator import itemgetter
from statistics import median
from typing import Any, cast

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.configuration.asked import Asked
from islands.configuration.resolve import resolve
from islands.configuration.resolved import Resolved
from islands.engine.build import make_archipelago, take_device
from islands.engine.loop import Loop
from islands.engine.observers import Observer
from islands.engine.signals import Interruption
from islands.migration import Arrivals
from islands.parallel import World, powers_of_two
from islands.problems import loaded
from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.studies.bench.algorithms import BRKGA, cities
from islands.studies.bench.base import BenchRequest, spread, table
from islands.studies.bench.topologies import traffic
from islands.tables import Row
from islands.text import counted

STRONG_ISLANDS = 64
REPEATS = 7
_FEWEST_EPOCHS = 4
SCALING = table("scaling")
ENDS = table(
    "epoch_ends",
    microseconds=lambda seconds: f"{1e6 * seconds:.1f}",
    of_epoch=lambda row: row["end"] / row["epoch"],
)


def measure(request: BenchRequest) -> Iterator[Row]:
    """Return the rows of each instance, those of rank 0 on every rank; collective.

    Refuse wrong instances and settings at once, before the first row is asked for.
    """
    world = request.world
    problems = world.run_on_all(lambda: {name: _problem(name) for name in request.instances})
    for problem in problems.values():
        for _, case in _cases(request, problem):
            world.run_on_all(partial(case.run, generations=1))
    return _measured(request, problems)


def _measured(request: BenchRequest, problems: Mapping[str, Problem]) -> Iterator[Row]:
    world = request.world
    backend = take_device(world, request.backends[0], request.threads)
    ends: list[Row] = []
    alone: Row | None = None
    for name in request.heartbeat.over(list(problems), str):
        problem = problems[name]
        for ranks, case in _cases(request, problem):
            request.heartbeat.detail(case.words(ranks))
            if ranks == 1:
                alone = None
            measure = partial(case.measured, backend=backend, alone=alone)
            found = world.bcast(request.campaign.on_first(ranks, measure))
            row = SCALING.row(**found[0])
            alone = alone or row
            ends += [ENDS.row(**end) for end in found[1:]]
            yield row
        if world.size > 1:
            yield _apart(request, problem, world, backend)
    yield from ends


def _cases(request: BenchRequest, problem: Problem) -> Iterator[tuple[int, Case]]:
    """Yield each number of ranks with what these measure, beginning with one rank."""
    for scaling, delay in product(("weak", "strong"), request.delay):
        for ranks in powers_of_two(request.world.size):
            islands = ranks * request.islands_a_rank if scaling == "weak" else STRONG_ISLANDS
            if ranks <= islands:
                yield ranks, Case(request, problem, scaling, islands, delay)


def _apart(request: BenchRequest, problem: Problem, world: World, backend: Backend) -> Row:
    """Return the row of the slowest rank if all work alone, at the same time."""
    case = Case(request, problem, "apart", request.islands_a_rank, request.delay[0])
    rows = world.allgather(case.measured(World(), backend, None)[0])
    slowest = SCALING.row(**min(rows, key=itemgetter("rate")))
    return slowest.but(ranks=world.size, of_one=slowest["rate"] / rows[0]["rate"])


def _problem(name: str) -> Problem:
    full = f"national/{name}"
    return cities(full, BRKGA.instances[full]) if full in BRKGA.instances else loaded(name)


@dataclass(frozen=True)
class Case:
    """The islands of one measurement."""

    request: BenchRequest
    problem: Problem
    scaling: str
    """`weak`, `strong` or `apart`."""
    islands: int
    delay: int

    def words(self, ranks: int) -> str:
        """Return a description of the measurement on `ranks` ranks."""
        return f"{self.scaling} scaling on {counted(ranks, 'rank')}, delay {self.delay}"

    def run(self, generations: int) -> Resolved:
        """Return a run of `generations` generations."""
        options = {
            "instance": self.problem.instance,
            "algorithm": "brkga",
            "islands": self.islands,
            "population": self.request.population,
            "improver.name": "none",
            "migration.topology": self.request.topology,
            "migration.interval": self.request.interval,
            "migration.migrants": self.request.migrants,
            "migration.delay": self.delay,
            "record.every": self.request.interval,
            "stop": f"generations={generations}",
        }
        return resolve(Asked(options), self.problem)

    def measured(self, world: World, backend: Backend, alone: Row | None) -> list[Row]:
        """Return the row of these ranks, and of the ends of their epochs if any; collective."""
        run = self.run(1)
        archipelago = make_archipelago(run, world, backend)
        # The first run also captures the CUDA graphs of later runs.
        short = _FEWEST_EPOCHS * self.request.interval
        rate = self._rate(archipelago, world, short)
        epochs = int(world.bcast(self.request.seconds * rate / self.request.interval))
        generations = max(_FEWEST_EPOCHS, epochs) * self.request.interval
        rates = [self._rate(archipelago, world, generations) for _ in range(REPEATS)]
        rate = median(rates)
        row = SCALING.row(
            scaling=self.scaling,
            instance=self.problem.instance,
            size=self.problem.size,
            ranks=world.size,
            islands=self.islands,
            delay=self.delay,
            device=backend.device,
            generations=generations,
            rate=rate,
            spread=spread(rates),
            of_one=rate / alone["rate"] if alone is not None else 1.0,
        )
        if self.scaling != "weak":
            return [row]
        timed = TimedArchipelago(archipelago)
        self._rate(cast(Archipelago, timed), world, generations)
        return [row, self._end(timed, world)] if timed.ends else [row]

    def _rate(self, archipelago: Archipelago, world: World, generations: int) -> float:
        """Return generations per second, from the end of the first epoch to that of the last."""
        clock = _Clock()
        with Interruption() as interruption:
            Loop(archipelago, self.run(generations), world, interruption, [clock]).run()
        # The first epoch has small steps, as the speed is still unknown.
        (_, (first, began), *_, (last, ended)) = clock.seen
        return (last - first) / (ended - began)

    def _end(self, timed: TimedArchipelago, world: World) -> Row:
        def typical(name: str) -> float:
            return median(end[name] for end in timed.ends)

        # With a delay, generations continue while migrants travel.
        hidden = () if self.delay else ("travel",)
        sent = traffic(self.request.topology, self.islands, world.size)
        return ENDS.row(
            instance=self.problem.instance,
            ranks=world.size,
            delay=self.delay,
            transport=timed.transport,
            bytes=sent.most_parcels * self.request.migrants * timed.migrant_bytes,
            ends=len(timed.ends),
            **{name: typical(name) for name in ("pack", "travel", "unpack", "end", "epoch")},
            host=median(
                end["end"] - sum(end[name] for name in ("pack", "unpack", *hidden))
                for end in timed.ends
            ),
        )


class _Clock(Observer):
    """Notes the generation and the time of each epoch."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, float]] = []

    def epoch(self, epoch: Epoch) -> None:
        """Note an epoch."""
        self.seen.append((epoch.progress.generation, epoch.progress.seconds))


class TimedArchipelago:
    """An archipelago that records the ends of its epochs in the loop of a run.

    It waits for the generations before each migration, so that the end does not include them.
    """

    def __init__(self, archipelago: Archipelago) -> None:
        self._archipelago = archipelago
        self._began: float | None = None
        self._ended: float | None = None
        self._whole_and_epoch: tuple[float, float] | None = None
        self.ends: list[dict[str, float]] = []
        """Seconds of the phases of each end, from its last generation to the first of the next
        epoch, and of the epoch, from the previous end to this one."""
        self.migrant_bytes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._archipelago, name)

    def migrate(self) -> None:
        """Migrate when the device has finished the generations."""
        self._archipelago.wait()
        self._began = time.perf_counter()
        self._archipelago.migrate()

    def advance(self, generations: int) -> None:
        """Advance by generations; the previous epoch's end is over."""
        self._archipelago.advance(self._begin(generations))

    def attempt(self, generations: int) -> bool:
        """Advance by generations that may be abandoned; the previous epoch's end is over."""
        return self._archipelago.attempt(self._begin(generations))

    def _begin(self, generations: int) -> int:
        now = time.perf_counter()
        if self._began is not None:
            if self._ended is not None:
                self._whole_and_epoch = now - self._began, now - self._ended
            self._began, self._ended = None, now
        return generations

    def arrivals(self) -> Arrivals | None:
        """Return the result of the migration, and record the time of its epoch's end."""
        arrivals = self._archipelago.arrivals()
        if arrivals is not None and self._whole_and_epoch is not None:
            phases, (whole, epoch) = arrivals.phases, self._whole_and_epoch
            self.migrant_bytes = self.migrant_bytes or arrivals.bytes
            own = {"pack": phases.pack, "travel": phases.transport, "unpack": phases.unpack}
            self.ends.append({**own, "end": whole, "epoch": epoch})
        self._whole_and_epoch = None
        return arrivals
