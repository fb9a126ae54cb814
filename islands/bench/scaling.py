"""Measure the speed of islands on a number of ranks."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import ClassVar, cast

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.bench.base import BenchRequest, BenchRow
from islands.bench.ends import EndRow, TimedArchipelago
from islands.bench.traffic import traffic
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.run.build import make_archipelago
from islands.run.loop import Loop
from islands.run.signals import Interruption
from islands.text import counted

REPEATS = 7
_FEWEST_EPOCHS = 4


@dataclass(frozen=True)
class ScalingRow(BenchRow):
    """The speed of a number of ranks on one instance."""

    TABLE: ClassVar[str] = "scaling"
    HEADER: ClassVar[str] = (
        "scaling instance            cities  ranks  islands  delay  generations/s   spread   of one"
    )

    scaling: str
    instance: str
    size: int
    ranks: int
    islands: int
    delay: int
    device: str
    generations: int
    """Of a repeat."""
    rate: float
    """Generations per second: the median of the repeats."""
    spread: float
    """(fastest - slowest) / median of the repeats."""
    of_one: float

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        return (
            f"{self.scaling:<7} {self.instance:<18} {self.size:>7} {self.ranks:>6} "
            f"{self.islands:>8} {self.delay:>6} {self.rate:>14.1f} {self.spread:>8.1%}"
            f" {self.of_one:>8.3f}"
        )


@dataclass(frozen=True)
class Case:
    """The islands of one measurement."""

    request: BenchRequest
    problem: Problem
    is_weak: bool
    islands: int
    delay: int

    def words(self, ranks: int) -> str:
        """Return a description of the measurement on `ranks` ranks."""
        scaling = "weak" if self.is_weak else "strong"
        return f"{scaling} scaling on {counted(ranks, 'rank')}, delay {self.delay}"

    def spec(self, generations: int) -> RunSpec:
        """Return the settings of a run of `generations` generations."""
        options = {
            "instance": self.problem.instance,
            "algorithm": "brkga",
            "islands": self.islands,
            "population": self.request.population,
            "improver": "none",
            "migration.topology": self.request.topology,
            "migration.interval": self.request.interval,
            "migration.migrants": self.request.migrants,
            "migration.delay": self.delay,
            "record.every": self.request.interval,
            "stop": f"generations={generations}",
        }
        return resolve(layers(options), self.problem)

    def measured(
        self, world: World, backend: Backend, alone: ScalingRow | None
    ) -> tuple[ScalingRow, EndRow | None]:
        """Return the rows of these ranks; collective."""
        archipelago = make_archipelago(self.spec(1), self.problem, world, backend)
        # The first run also captures the CUDA graphs of later runs.
        short = _FEWEST_EPOCHS * self.request.interval
        rate = self._rate(archipelago, world, short)
        epochs = int(world.bcast(self.request.seconds * rate / self.request.interval))
        generations = max(_FEWEST_EPOCHS, epochs) * self.request.interval
        rates = [self._rate(archipelago, world, generations) for _ in range(REPEATS)]
        rate = median(rates)
        row = ScalingRow(
            scaling="weak" if self.is_weak else "strong",
            instance=self.problem.instance,
            size=self.problem.size,
            ranks=world.size,
            islands=self.islands,
            delay=self.delay,
            device=backend.device,
            generations=generations,
            rate=rate,
            spread=(max(rates) - min(rates)) / rate,
            of_one=rate / alone.rate if alone is not None else 1.0,
        )
        timed = TimedArchipelago(archipelago)
        self._rate(cast(Archipelago, timed), world, generations)
        return row, self._end(timed, world) if self.is_weak and timed.ends else None

    def _rate(self, archipelago: Archipelago, world: World, generations: int) -> float:
        """Return generations per second, from the end of the first epoch to that of the last."""
        seen: list[tuple[int, float]] = []

        def watch(epoch: Epoch) -> None:
            seen.append((epoch.progress.generation, epoch.progress.seconds))

        spec = self.spec(generations)
        with Interruption() as interruption:
            Loop(archipelago, spec, self.problem, world, interruption, watch=watch).run()
        # The first epoch has small steps, as the speed is still unknown.
        (_, (first, began), *_, (last, ended)) = seen
        return (last - first) / (ended - began)

    def _end(self, timed: TimedArchipelago, world: World) -> EndRow:
        ends = timed.ends
        sent = traffic(self.request.topology, self.islands, world.size)
        return EndRow(
            instance=self.problem.instance,
            ranks=world.size,
            delay=self.delay,
            transport=timed.transport,
            bytes=sent.most_parcels * self.request.migrants * ends[0].migrant_bytes,
            ends=len(ends),
            pack=median(end.pack for end in ends),
            travel=median(end.transport for end in ends),
            unpack=median(end.unpack for end in ends),
            host=median(end.host(hides_transport=self.delay > 0) for end in ends),
            end=median(end.whole for end in ends),
            epoch=median(end.epoch for end in ends),
        )


def counts(size: int) -> list[int]:
    """Return 1, 2, 4, ... up to `size`, and `size` itself."""
    return sorted({*(1 << bit for bit in range(size.bit_length())), size})
