"""Differential evolution by the setting of Jardim 2021, experiment A, alone and ten side by side.

The CPU works on one thread unless more are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.bench import preset
from islands.bench.base import Asked, Row
from islands.errors import IslandsError
from islands.instances.locate import find
from islands.instances.synthetic import grid_qap
from islands.problems import SUFFIXES, read
from islands.problems.base import Problem
from islands.problems.qap import Qap
from islands.text import count

INSTANCES = {
    "chr12c": (3, 4),
    "bur26a": (2, 13),
    "ste36a": (6, 6),
    "sko56": (7, 8),
    "wil100": (10, 10),
    "esc128": (8, 16),
    "tho150": (10, 15),
    "tai256c": (16, 16),
}
"""Instances of the thesis, and the grid of one that takes the place of an absent one."""
_RUNS = {"cuda": (1, 10), "cpu": (1,)}
_CPU_SECONDS, _CPU_REPEATS = 1.0, 3


@dataclass(frozen=True)
class DeRow(Row):
    """A backend on an instance."""

    TABLE: ClassVar[str] = "de"
    HEADER: ClassVar[str] = (
        "device            instance            items  runs   us a generation   spread"
        "  generations/s  evaluations/s"
    )

    device: str
    instance: str
    size: int
    runs: int
    """Runs side by side, in the same launches."""
    generations: int
    microseconds: float
    """A generation of all runs; the median of the repeats."""
    spread: float
    """(longest - shortest) / median of the repeats."""
    generations_per_second: float
    """Of all runs together."""
    evaluations_per_second: float
    cost: int

    def line(self) -> str:
        """Return the row under `HEADER`."""
        rates = f"{count(self.generations_per_second):>14} {count(self.evaluations_per_second):>14}"
        return (
            f"{self.device:<17} {self.instance:<18} {self.size:>7} {self.runs:>5}"
            f" {self.microseconds:>17.2f} {self.spread:>8.1%} {rates}"
        )


def measure(asked: Asked) -> Iterator[DeRow]:
    """Measure each size on each backend; the CPU passes as many generations as it can in 1 s."""
    for name in asked.backends:
        backend = choose(name, asked.threads or 1)
        seconds = (1 + _CPU_REPEATS) * _CPU_SECONDS if name == "cpu" else None
        words = f"qaplib/{{}} on {name}".format
        for instance in asked.heartbeat.over(INSTANCES, words, seconds=seconds):
            for runs in _RUNS[name]:
                yield _measured(backend, problem_of(instance), runs, asked.generations)


def problem_of(instance: str) -> Problem:
    """Return the published instance, or where it is absent one of its size that is made."""
    try:
        found = find(f"qaplib/{instance}", SUFFIXES)
        found.file()
    except IslandsError:
        return Qap(grid_qap(*INSTANCES[instance], seed=1)[0])
    return read(found)


def _measured(backend: Backend, problem: Problem, runs: int, generations: int) -> DeRow:
    archipelago = preset.archipelago("jardim2021-a", problem, backend, runs)
    archipelago.start()
    with backend.timed() as first:
        archipelago.advance(2)
    repeats = 5
    if backend.name == "cpu":
        repeats = _CPU_REPEATS
        generations = max(2, min(generations, int(1000 * _CPU_SECONDS / (first[0] / 2))))
    called = preset.evaluations(archipelago)
    times = [_pass(archipelago, backend, generations) / generations for _ in range(repeats + 1)]
    calls = (preset.evaluations(archipelago) - called) / (len(times) * generations)
    times = times[1:]
    typical = median(times)
    return DeRow(
        device=backend.device,
        instance=problem.instance,
        size=problem.size,
        runs=runs,
        generations=generations,
        microseconds=1000 * typical,
        spread=(max(times) - min(times)) / typical,
        generations_per_second=1000 * runs / typical,
        evaluations_per_second=1000 * calls / typical,
        cost=archipelago.elite(1)[0].cost,
    )


def _pass(archipelago: Archipelago, backend: Backend, generations: int) -> float:
    """Return the milliseconds of so many generations."""
    with backend.timed() as milliseconds:
        archipelago.advance(generations)
    return milliseconds[0]
