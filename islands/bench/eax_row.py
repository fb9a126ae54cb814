"""The row of the throughput benchmark of edge assembly crossover."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from islands.bench.base import BenchRow
from islands.bench.throughput import Throughput
from islands.text import count


@dataclass(frozen=True)
class EaxRow(BenchRow):
    """Edge assembly crossover on one backend and instance."""

    TABLE: ClassVar[str] = "eax"
    HEADER: ClassVar[str] = (
        "device            instance            cities  tours     us/generation   spread"
        "     children/s"
    )

    device: str
    instance: str
    size: int
    tours: int
    generations: int
    microseconds: float
    spread: float
    children_per_second: float
    cost: int

    @classmethod
    def of(cls, found: Throughput) -> Self:
        """Return the row."""
        return cls(
            device=found.backend.device,
            instance=found.problem.instance,
            size=found.problem.size,
            tours=found.spec.general.population,
            generations=found.generations,
            microseconds=1000 * found.milliseconds,
            spread=found.spread,
            children_per_second=found.per_second(found.evaluations),
            cost=found.cost,
        )

    def line(self) -> str:
        """Return the row as text, aligned with `HEADER`."""
        return (
            f"{self.device:<17} {self.instance:<18} {self.size:>7} {self.tours:>6}"
            f" {self.microseconds:>17.1f} {self.spread:>8.1%} {count(self.children_per_second):>14}"
        )
