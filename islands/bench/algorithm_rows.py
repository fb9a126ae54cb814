"""The rows of the throughput benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.bench.base import BenchRow
from islands.bench.throughput import Throughput, copy_bandwidth
from islands.text import count

_KEY_BYTES = 4
_CELLULAR_GENERATIONS = 5000
_PSO_GENERATIONS = 600


@dataclass(frozen=True)
class BrkgaRow(BenchRow):
    """BRKGA on one backend and instance."""

    TABLE: ClassVar[str] = "brkga"
    HEADER: ClassVar[str] = (
        "device            instance            cities      ms/generation   spread"
        "     keys/s    bytes/s   of copy"
    )

    device: str
    instance: str
    size: int
    generations: int
    milliseconds: float
    """Of a generation, including migration."""
    spread: float
    keys_per_second: float
    bytes_per_second: float
    copy_bytes_per_second: float
    cost: int

    @classmethod
    def of(cls, found: Throughput) -> Self:
        """Return the row; count keys that are made and the minimum of bytes that move."""
        size, general = found.problem.size, found.spec.general
        settings = found.spec.settings
        assert isinstance(settings, BrkgaSettings)
        algorithm = Brkga(settings, general.population)
        made = general.population - algorithm.elite
        children = made - algorithm.mutants
        moved = children * (settings.parents + 1) + algorithm.mutants + 2 * algorithm.elite
        return cls(
            device=found.backend.device,
            instance=found.problem.instance,
            size=size,
            generations=found.generations,
            milliseconds=found.milliseconds,
            spread=found.spread,
            keys_per_second=found.per_second(general.islands * made * size),
            bytes_per_second=found.per_second(general.islands * moved * size * _KEY_BYTES),
            copy_bytes_per_second=copy_bandwidth(found.backend),
            cost=found.cost,
        )

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        share = self.bytes_per_second / self.copy_bytes_per_second
        rates = f"{count(self.keys_per_second):>10} {count(self.bytes_per_second):>10}"
        return (
            f"{self.device:<17} {self.instance:<18} {self.size:>7} {self.milliseconds:>18.4f}"
            f" {self.spread:>8.1%} {rates} {share:>9.1%}"
        )


@dataclass(frozen=True)
class DeRow(BenchRow):
    """Differential evolution on one backend and instance."""

    TABLE: ClassVar[str] = "de"
    HEADER: ClassVar[str] = (
        "device            instance            items  runs     us/generation   spread"
        "  generations/s  evaluations/s"
    )

    device: str
    instance: str
    size: int
    runs: int
    generations: int
    microseconds: float
    spread: float
    generations_per_second: float
    """Of all runs."""
    evaluations_per_second: float
    cost: int

    @classmethod
    def of(cls, found: Throughput) -> Self:
        """Return the row."""
        return cls(
            device=found.backend.device,
            instance=found.problem.instance,
            size=found.problem.size,
            runs=found.runs,
            generations=found.generations,
            microseconds=1000 * found.milliseconds,
            spread=found.spread,
            generations_per_second=found.per_second(found.runs),
            evaluations_per_second=found.per_second(found.evaluations),
            cost=found.cost,
        )

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        rates = f"{count(self.generations_per_second):>14} {count(self.evaluations_per_second):>14}"
        return (
            f"{self.device:<17} {self.instance:<18} {self.size:>7} {self.runs:>5}"
            f" {self.microseconds:>17.2f} {self.spread:>8.1%} {rates}"
        )


@dataclass(frozen=True)
class CellularRow(BenchRow):
    """The cellular algorithm on one backend and instance."""

    TABLE: ClassVar[str] = "cellular"
    HEADER: ClassVar[str] = (
        "device            instance     items   runs     ms/generation   spread"
        "   evaluations/s     s/run of 5000   paper/this"
    )

    device: str
    instance: str
    size: int
    runs: int
    generations: int
    milliseconds: float
    spread: float
    evaluations_per_second: float
    """Including exchanges that the improver tries."""
    seconds_a_run: float
    """Seconds of 5000 generations of all runs, divided by their number."""
    speedup: float
    """Seconds of the paper's GPU over these."""

    @classmethod
    def of(cls, found: Throughput) -> Self:
        """Return the row."""
        seconds = _CELLULAR_GENERATIONS * found.milliseconds / 1000 / found.runs
        return cls(
            device=found.backend.device,
            instance=found.problem.instance.removeprefix("qaplib/"),
            size=found.problem.size,
            runs=found.runs,
            generations=found.generations,
            milliseconds=found.milliseconds,
            spread=found.spread,
            evaluations_per_second=found.per_second(found.evaluations),
            seconds_a_run=seconds,
            speedup=found.reference / seconds,
        )

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        return (
            f"{self.device[:17]:<17} {self.instance:<12} {self.size:>6} {self.runs:>6}"
            f" {self.milliseconds:>17.4f} {self.spread:>8.1%}"
            f" {count(self.evaluations_per_second):>15} {self.seconds_a_run:>17.4f}"
            f" {self.speedup:>12.1f}"
        )


@dataclass(frozen=True)
class GaRow(BenchRow):
    """The genetic algorithm on one backend and instance, with one of its settings."""

    TABLE: ClassVar[str] = "ga"
    HEADER: ClassVar[str] = (
        "device            instance       items   limits   setting      individuals"
        "     ms/generation   spread   children/s"
    )

    device: str
    instance: str
    items: int
    constraints: int
    setting: str
    individuals: int
    """On all islands."""
    generations: int
    milliseconds: float
    """Of a generation, without migration."""
    spread: float
    children_per_second: float
    """Children that are made feasible and evaluated."""

    @classmethod
    def of(cls, found: Throughput) -> Self:
        """Return the row."""
        general = found.spec.general
        return cls(
            device=found.backend.device,
            instance=found.problem.instance.removeprefix("orlib/"),
            items=found.problem.size,
            constraints=int(str(found.problem.defines()["MKP_CONSTRAINTS"])),
            setting=found.setting,
            individuals=general.islands * general.population,
            generations=found.generations,
            milliseconds=found.milliseconds,
            spread=found.spread,
            children_per_second=found.per_second(found.evaluations),
        )

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        return (
            f"{self.device[:17]:<17} {self.instance:<12} {self.items:>7} {self.constraints:>8}"
            f"   {self.setting:<10} {self.individuals:>13} {self.milliseconds:>17.4f}"
            f" {self.spread:>8.1%} {count(self.children_per_second):>12}"
        )


@dataclass(frozen=True)
class PsoRow(BenchRow):
    """The particle swarm on one backend and instance, with one preset."""

    TABLE: ClassVar[str] = "pso"
    HEADER: ClassVar[str] = (
        "device            preset         instance              items   runs     ms/generation"
        "   spread   evaluations/s     s/run of 600   paper/this"
    )

    device: str
    preset: str
    instance: str
    size: int
    runs: int
    generations: int
    milliseconds: float
    spread: float
    evaluations_per_second: float
    seconds_a_run: float
    """Seconds of 600 generations of all runs, divided by their number."""
    speedup: float
    """Seconds of the paper's GPU over these."""

    @classmethod
    def of(cls, found: Throughput) -> Self:
        """Return the row."""
        seconds = _PSO_GENERATIONS * found.milliseconds / 1000 / found.runs
        published = dict(zip(("munhao2019-m1", "munhao2019-m2"), found.reference, strict=True))
        return cls(
            device=found.backend.device,
            preset=found.setting,
            instance=found.problem.instance,
            size=found.problem.size,
            runs=found.runs,
            generations=found.generations,
            milliseconds=found.milliseconds,
            spread=found.spread,
            evaluations_per_second=found.per_second(found.evaluations),
            seconds_a_run=seconds,
            speedup=published[found.setting] / seconds,
        )

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        return (
            f"{self.device[:17]:<17} {self.preset:<14} {self.instance:<19} {self.size:>7}"
            f" {self.runs:>6} {self.milliseconds:>17.4f} {self.spread:>8.1%}"
            f" {count(self.evaluations_per_second):>15} {self.seconds_a_run:>16.4f}"
            f" {self.speedup:>12.1f}"
        )
