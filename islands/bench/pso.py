"""The particle swarm by the settings of Munhao et al. 2019: thirty runs of 512 side by side.

Times are compared with the paper's, of one run on its GPU; the runs here share their time.
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

PRESETS = ("munhao2019-m1", "munhao2019-m2")
INSTANCES = {
    "sac94/pet2": (0.1032, 0.102367),
    "sac94/weing1": (0.1850445, 0.1851833),
    "sac94/pb6": (0.374567, 0.3748),
    "orlib/mknapcb1-00": (0.6066667, 0.60642),
    "orlib/mknapcb3-00": (3.089326, 3.089647),
    "orlib/mknapcb9-00": (5.487423, 5.488282),
    "gk/gk04": (1.9279, 1.9228),
    "gk/gk09": (15.5769, 15.7122),
    "gk/gk11": (64.1039, 64.2207),
}
"""Seconds of a run by either preset on the paper's GPU, an nVidia GeForce GTX 1050 Ti."""
_GENERATIONS = 600
_SECONDS = 0.5
_PASSES = 4  # the first of which is not counted


@dataclass(frozen=True)
class PsoRow(Row):
    """A backend on an instance."""

    TABLE: ClassVar[str] = "pso"
    HEADER: ClassVar[str] = (
        "device            preset         instance              items   runs   ms a generation"
        "   spread   evaluations/s   s a run of 600   paper/this"
    )

    device: str
    preset: str
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
    seconds_a_run: float
    """Of 600 generations of all runs, divided by their number."""
    speedup: float
    """How many times faster that is than the paper's GPU."""

    def line(self) -> str:
        """Return the row under `HEADER`."""
        return (
            f"{self.device[:17]:<17} {self.preset:<14} {self.instance:<19} {self.size:>7}"
            f" {self.runs:>6} {self.milliseconds:>17.4f} {self.spread:>8.1%}"
            f" {count(self.evaluations_per_second):>15} {self.seconds_a_run:>16.4f}"
            f" {self.speedup:>12.1f}"
        )


def measure(asked: Asked) -> Iterator[PsoRow]:
    """Measure each published instance on each backend: thirty runs, or one on the CPU."""
    for name in asked.backends:
        words, limit = f"{{}} on {name}".format, len(PRESETS) * _PASSES * _SECONDS
        for instance in asked.heartbeat.over(INSTANCES, words, seconds=limit):
            try:
                problem = load(instance)
            except IslandsError:
                asked.heartbeat.skip()
                continue
            for chosen, seconds in zip(PRESETS, INSTANCES[instance], strict=True):
                yield _measured(name, asked, chosen, problem, seconds)


def _measured(name: str, asked: Asked, chosen: str, problem: Problem, published: float) -> PsoRow:
    backend, runs = choose(name, asked.threads or 1), 1 if name == "cpu" else 30
    archipelago = preset.archipelago(chosen, problem, backend, runs)
    archipelago.start()
    with backend.timed() as first:
        archipelago.advance(10)
    generations = max(10, min(asked.generations, int(1000 * _SECONDS / (first[0] / 10))))
    called, times = preset.evaluations(archipelago), []
    for _ in range(_PASSES):
        with backend.timed() as milliseconds:
            archipelago.advance(generations)
        times.append(milliseconds[0] / generations)
    calls = (preset.evaluations(archipelago) - called) / (_PASSES * generations)
    times = times[1:]
    typical = median(times)
    seconds = _GENERATIONS * typical / 1000 / runs
    return PsoRow(
        device=backend.device,
        preset=chosen,
        instance=problem.instance,
        size=problem.size,
        runs=runs,
        generations=generations,
        milliseconds=typical,
        spread=(max(times) - min(times)) / typical,
        evaluations_per_second=1000 * calls / typical,
        seconds_a_run=seconds,
        speedup=published / seconds,
    )
