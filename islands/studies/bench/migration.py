"""Scaling over 1, 2, 4, ... of the started ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from operator import itemgetter
from statistics import median

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.configuration.resolved import Resolved
from islands.engine.build import make_archipelago, take_device
from islands.engine.loop import Loop
from islands.engine.observers import Observer
from islands.engine.signals import Interruption
from islands.parallel import World, powers_of_two
from islands.problems import loaded
from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.studies.bench.algorithms import BRKGA, cities
from islands.studies.bench.base import BenchRequest, spread, table
from islands.tables import Row
from islands.text import counted

STRONG_ISLANDS = 64
REPEATS = 7
_FEWEST_EPOCHS = 4
SCALING = table("scaling")


def measure(request: BenchRequest) -> Iterator[Row]:
    """Return the rows of each instance; every rank returns those of rank 0; collective.

    Reject invalid instances and settings immediately, not when the first row is requested.
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
    alone: Row | None = None
    for name in request.heartbeat.over(list(problems), str):
        problem = problems[name]
        for ranks, case in _cases(request, problem):
            request.heartbeat.detail(case.words(ranks))
            if ranks == 1:
                alone = None
            measure = partial(case.measured, backend=backend, alone=alone)
            row = SCALING.row(**world.bcast(request.campaign.on_first(ranks, measure)))
            alone = alone or row
            yield row
        if world.size > 1:
            yield _apart(request, problem, world, backend)


def _cases(request: BenchRequest, problem: Problem) -> Iterator[tuple[int, Case]]:
    """Yield the number of ranks of each measurement, one rank first, and its case."""
    for scaling, delay in product(("weak", "strong"), request.delay):
        for ranks in powers_of_two(request.world.size):
            islands = ranks * request.islands_a_rank if scaling == "weak" else STRONG_ISLANDS
            if ranks <= islands:
                yield ranks, Case(request, problem, scaling, islands, delay)


def _apart(request: BenchRequest, problem: Problem, world: World, backend: Backend) -> Row:
    """Return the row of the slowest rank when all ranks run alone, at the same time."""
    case = Case(request, problem, "apart", request.islands_a_rank, request.delay[0])
    rows = world.allgather(case.measured(World(), backend, None))
    slowest = SCALING.row(**min(rows, key=itemgetter("rate")))
    return slowest.but(ranks=world.size, of_one=slowest["rate"] / rows[0]["rate"])


def _problem(name: str) -> Problem:
    full = f"national/{name}"
    return cities(full, BRKGA.instances[full]) if full in BRKGA.instances else loaded(name)


@dataclass(frozen=True)
class Case:
    """One case to measure: a kind of scaling, with a number of islands and a delay."""

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
        return resolve(Request(options), self.problem)

    def measured(self, world: World, backend: Backend, alone: Row | None) -> Row:
        """Return the row of these ranks, with the speed relative to that in `alone`; collective."""
        run = self.run(1)
        archipelago = make_archipelago(run, world, backend)
        # The first run also captures the CUDA graphs of later runs.
        short = _FEWEST_EPOCHS * self.request.interval
        rate = self._rate(archipelago, world, short)
        epochs = int(world.bcast(self.request.seconds * rate / self.request.interval))
        generations = max(_FEWEST_EPOCHS, epochs) * self.request.interval
        rates = [self._rate(archipelago, world, generations) for _ in range(REPEATS)]
        rate = median(rates)
        return SCALING.row(
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

    def _rate(self, archipelago: Archipelago, world: World, generations: int) -> float:
        """Return generations per second, from the end of the first epoch to that of the last."""
        clock = _Clock()
        with Interruption() as interruption:
            Loop(archipelago, self.run(generations), world, interruption, [clock]).run()
        # The first epoch has small steps, as the speed is still unknown.
        (_, (first, began), *_, (last, ended)) = clock.seen
        return (last - first) / (ended - began)


class _Clock(Observer):
    """Records the generation and the time of each epoch."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, float]] = []

    def epoch(self, epoch: Epoch) -> None:
        """Record an epoch."""
        self.seen.append((epoch.progress.generation, epoch.progress.seconds))
