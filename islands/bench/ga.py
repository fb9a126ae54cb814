"""The genetic algorithm on knapsacks, whole generations and the steady state.

The first are by the setting of Dantas and Cáceres 2014, 8 islands of 512; the second on many small
islands, whose children are repaired.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any, ClassVar

from islands.backends import choose
from islands.bench import preset
from islands.bench.base import Asked, Row
from islands.errors import IslandsError
from islands.parallel import World
from islands.problems import load
from islands.problems.base import Problem
from islands.run.build import islands_of
from islands.spec.resolve import layers, resolve
from islands.text import count

INSTANCES = ("mknapcb1-00", "mknapcb3-00", "mknapcb9-00")
"""5 x 100, 5 x 500 and 30 x 500, constraints by items."""
_STEADY = {"algorithm": "ga", "encoding": "bits", "infeasible": "repair", "population": 64}
SETTINGS: dict[str, dict[str, Any]] = {
    "dantas2014": {"preset": "dantas2014-cuda"},
    "steady": _STEADY | {"islands": 1024, "improver": "none"},
}
_ISLANDS_OF_CPU = 8
_CPU_SECONDS = 2.0
_PASSES = 4  # the first of which is not counted


@dataclass(frozen=True)
class GaRow(Row):
    """A backend on an instance."""

    TABLE: ClassVar[str] = "ga"
    HEADER: ClassVar[str] = (
        "device            instance       items   limits   setting      individuals"
        "   ms a generation   spread   children/s"
    )

    device: str
    instance: str
    items: int
    constraints: int
    setting: str
    individuals: int
    """On all islands, in each launch."""
    generations: int
    milliseconds: float
    """A generation, without migration; the median of the repeats."""
    spread: float
    """(longest - shortest) / median of the repeats."""
    children_per_second: float
    """Made feasible, and evaluated."""

    def line(self) -> str:
        """Return the row under `HEADER`."""
        return (
            f"{self.device[:17]:<17} {self.instance:<12} {self.items:>7} {self.constraints:>8}"
            f"   {self.setting:<10} {self.individuals:>13} {self.milliseconds:>17.4f}"
            f" {self.spread:>8.1%} {count(self.children_per_second):>12}"
        )


def measure(asked: Asked) -> Iterator[GaRow]:
    """Measure each setting on each instance and backend; on the CPU with fewer islands."""
    for name in asked.backends:
        seconds = len(SETTINGS) * _PASSES * _CPU_SECONDS if name == "cpu" else None
        words = f"orlib/{{}} on {name}".format
        for instance in asked.heartbeat.over(INSTANCES, words, seconds=seconds):
            try:
                problem = load(f"orlib/{instance}")
            except IslandsError:
                asked.heartbeat.skip()
                continue
            for setting in SETTINGS:
                yield _measured(name, asked.threads, problem, asked.generations, setting)


def _measured(
    name: str, threads: int | None, problem: Problem, generations: int, setting: str
) -> GaRow:
    backend, options = choose(name, threads), {**SETTINGS[setting], "migration": "none"}
    if name == "cpu":
        options["islands"] = _ISLANDS_OF_CPU
    spec = resolve(layers(options), problem)
    archipelago = islands_of(spec, problem, World(), backend)
    archipelago.start()
    with backend.timed() as first:
        archipelago.advance(2)
    if name == "cpu":
        generations = max(2, min(generations, int(1000 * _CPU_SECONDS / (first[0] / 2))))
    called, times = preset.evaluations(archipelago), []
    for _ in range(_PASSES):
        with backend.timed() as milliseconds:
            archipelago.advance(generations)
        times.append(milliseconds[0] / generations)
    children = (preset.evaluations(archipelago) - called) / (_PASSES * generations)
    times = times[1:]
    typical = median(times)
    return GaRow(
        device=backend.device,
        instance=problem.instance.removeprefix("orlib/"),
        items=problem.size,
        constraints=int(str(problem.defines()["MKP_CONSTRAINTS"])),
        setting=setting,
        individuals=spec.general.islands * spec.general.population,
        generations=generations,
        milliseconds=typical,
        spread=(max(times) - min(times)) / typical,
        children_per_second=1000 * children / typical,
    )
