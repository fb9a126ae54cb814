"""BRKGA by the setting of Xavier 2019: 3 islands of 256, elite and mutants 0.1, rho 0.7.

Bytes are the fewest that a generation must move: a child reads its parents' keys and writes its
own, a mutant writes, an elite individual is copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.bench.base import Asked, Row
from islands.bench.copy import copy_bandwidth
from islands.errors import IslandsError
from islands.instances.locate import find
from islands.instances.synthetic import uniform_tsp
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems import SUFFIXES, read
from islands.problems.base import Problem
from islands.problems.tsp import Tsp
from islands.text import count

INSTANCES = {"zi929": 929, "mu1979": 1979, "ca4663": 4663, "fi10639": 10639, "sw24978": 24978}
_POPULATION, _ISLANDS, _INTERVAL, _MIGRANTS = 256, 3, 200, 2
_KEY_BYTES = 4
_CPU_SECONDS, _CPU_REPEATS = 2.0, 3


@dataclass(frozen=True)
class BrkgaRow(Row):
    """A backend on an instance."""

    TABLE: ClassVar[str] = "brkga"
    HEADER: ClassVar[str] = (
        "device            instance            cities    ms a generation   spread"
        "     keys/s    bytes/s   of copy"
    )

    device: str
    instance: str
    size: int
    generations: int
    milliseconds: float
    """A generation, the exchange of elites included; the median of the repeats."""
    spread: float
    """(longest - shortest) / median of the repeats."""
    keys_per_second: float
    bytes_per_second: float
    copy_bytes_per_second: float
    cost: int

    def line(self) -> str:
        """Return the row under `HEADER`."""
        share = self.bytes_per_second / self.copy_bytes_per_second
        rates = f"{count(self.keys_per_second):>10} {count(self.bytes_per_second):>10}"
        return (
            f"{self.device:<17} {self.instance:<18} {self.size:>7} {self.milliseconds:>18.4f}"
            f" {self.spread:>8.1%} {rates} {share:>9.1%}"
        )


def measure(asked: Asked) -> Iterator[BrkgaRow]:
    """Measure each size on each backend; the CPU passes as many generations as it can in 2 s."""
    for name in asked.backends:
        copied = copy_bandwidth(choose(name, asked.threads))
        seconds = (1 + _CPU_REPEATS) * _CPU_SECONDS if name == "cpu" else None
        words = f"national/{{}} on {name}".format
        for instance in asked.heartbeat.over(INSTANCES, words, seconds=seconds):
            problem = problem_of(instance, INSTANCES[instance])
            yield _measured(name, asked.threads, problem, asked.generations, copied)


def problem_of(instance: str, size: int) -> Problem:
    """Return the published instance, or where it is absent a random one of its size."""
    try:
        found = find(f"national/{instance}", SUFFIXES)
        found.file()
    except IslandsError:
        return Tsp(uniform_tsp(size, seed=1))
    return read(found)


def _measured(
    name: str, threads: int | None, problem: Problem, generations: int, copied: float
) -> BrkgaRow:
    backend = choose(name, threads)
    settings = BrkgaSettings()
    algorithm = Brkga(settings, _POPULATION)
    archipelago = Archipelago(
        problem=problem,
        algorithm="brkga",
        encoding="keys",
        settings=settings,
        population=_POPULATION,
        islands=_ISLANDS,
        seed=1,
        migration=MigrationSettings(interval=_INTERVAL, migrants=_MIGRANTS),
        backend=backend,
        world=World(),
    )
    archipelago.start()
    with backend.timed() as first:
        archipelago.advance(2)
    repeats = 5
    if name == "cpu":
        repeats = _CPU_REPEATS
        generations = max(2, min(generations, int(1000 * _CPU_SECONDS / (first[0] / 2))))
    times = [_pass(archipelago, backend, generations) / generations for _ in range(repeats + 1)][1:]
    typical = median(times)
    made = _ISLANDS * (_POPULATION - algorithm.elite) * problem.size
    return BrkgaRow(
        device=backend.device,
        instance=problem.instance,
        size=problem.size,
        generations=generations,
        milliseconds=typical,
        spread=(max(times) - min(times)) / typical,
        keys_per_second=1000 * made / typical,
        bytes_per_second=1000 * _least_bytes(algorithm, settings, problem.size) / typical,
        copy_bytes_per_second=copied,
        cost=archipelago.elite(1)[0].cost,
    )


def _pass(archipelago: Archipelago, backend: Backend, generations: int) -> float:
    """Return the milliseconds of so many generations, with an exchange every so many."""
    with backend.timed() as milliseconds:
        left = generations
        while left:
            step = min(left, _INTERVAL)
            archipelago.advance(step)
            left -= step
            if step == _INTERVAL:
                archipelago.migrate()
    return milliseconds[0]


def _least_bytes(algorithm: Brkga, settings: BrkgaSettings, size: int) -> int:
    children = _POPULATION - algorithm.elite - algorithm.mutants
    rows = children * (settings.parents + 1) + algorithm.mutants + 2 * algorithm.elite
    return _ISLANDS * rows * size * _KEY_BYTES
