"""The cellular algorithm by the setting of Soca et al. 2010: ten runs of 2048 side by side.

Times are compared with the paper's, of one run on its GPU; the ten runs here share their time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from islands.backends import choose
from islands.bench import preset
from islands.bench.base import Asked, Row
from islands.errors import IslandsError
from islands.problems import load
from islands.problems.base import Problem
from islands.text import count

INSTANCES = {
    "chr12a": 2.559,
    "had14": 3.444,
    "chr18a": 6.092,
    "chr20a": 7.853,
    "bur26a": 16.961,
    "lipa30a": 21.599,
    "lipa40a": 46.852,
    "lipa50b": 91.429,
}
"""Seconds of a run of 5000 generations on the paper's GPU, an nVidia GeForce 9800 GTX+."""
_GENERATIONS = 5000
_CPU_SECONDS = 2.0
_PASSES = 4  # the first of which is not counted


@dataclass(frozen=True)
class CellularRow(Row):
    """A backend on an instance."""

    TABLE: ClassVar[str] = "cellular"
    HEADER: ClassVar[str] = (
        "device            instance     items   runs   ms a generation   spread"
        "   evaluations/s   s a run of 5000   paper/this"
    )

    device: str
    instance: str
    size: int
    runs: int
    """Side by side in each launch."""
    generations: int
    milliseconds: float
    """A generation of all runs; the median of the repeats."""
    spread: float
    """(longest - shortest) / median of the repeats."""
    evaluations_per_second: float
    """Calls of the objective, those for exchanges that the improver tries included."""
    seconds_a_run: float
    """Of 5000 generations of all runs, divided by their number."""
    speedup: float
    """How many times faster that is than the paper's GPU."""

    def line(self) -> str:
        """Return the row under `HEADER`."""
        return (
            f"{self.device[:17]:<17} {self.instance:<12} {self.size:>6} {self.runs:>6}"
            f" {self.milliseconds:>17.4f} {self.spread:>8.1%}"
            f" {count(self.evaluations_per_second):>15} {self.seconds_a_run:>17.4f}"
            f" {self.speedup:>12.1f}"
        )


def measure(asked: Asked) -> Iterator[CellularRow]:
    """Measure each published instance on each backend: ten runs, or one on the CPU."""
    for name in asked.backends:
        limit = _PASSES * _CPU_SECONDS if name == "cpu" else None
        words = f"qaplib/{{}} on {name}".format
        for instance in asked.heartbeat.over(INSTANCES, words, seconds=limit):
            try:
                problem = load(f"qaplib/{instance}")
            except IslandsError:
                asked.heartbeat.skip()
                continue
            published = INSTANCES[instance]
            yield _measured(name, asked.threads, problem, asked.generations, published)


def _measured(
    name: str, threads: int | None, problem: Problem, generations: int, published: float
) -> CellularRow:
    backend, runs = choose(name, threads), 1 if name == "cpu" else 10
    archipelago = preset.archipelago("soca2010", problem, backend, runs)
    archipelago.start()
    with backend.timed() as first:
        archipelago.advance(10)
    if name == "cpu":
        generations = max(10, min(generations, int(1000 * _CPU_SECONDS / (first[0] / 10))))
    called, times = preset.evaluations(archipelago), []
    for _ in range(_PASSES):
        with backend.timed() as milliseconds:
            archipelago.advance(generations)
        times.append(milliseconds[0] / generations)
    calls = (preset.evaluations(archipelago) - called) / (_PASSES * generations)
    times = times[1:]
    typical = median(times)
    seconds = _GENERATIONS * typical / 1000 / runs
    return CellularRow(
        device=backend.device,
        instance=problem.instance.removeprefix("qaplib/"),
        size=problem.size,
        runs=runs,
        generations=generations,
        milliseconds=typical,
        spread=(max(times) - min(times)) / typical,
        evaluations_per_second=1000 * calls / typical,
        seconds_a_run=seconds,
        speedup=published / seconds,
    )
