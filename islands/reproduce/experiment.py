"""The runs of an experiment: a paper's preset, on the backend that was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from islands.parallel import World
from islands.problems.base import Problem
from islands.run.beside import Together, run_beside
from islands.run.machine import take_device
from islands.run.resolve import layers, resolve
from islands.run.result import Result
from islands.run.runner import Output, run_asked
from islands.text import counted


@dataclass(frozen=True)
class Experiment:
    """What all runs of a table share."""

    preset: str
    paper_generations: int
    generations: int
    """Of each run; fewer than the paper's make a try."""
    backend: str
    """`cuda` or `cpu`."""
    device: str
    threads: tuple[int, ...]
    """Of the CPU runs to compare with."""
    runs: int | None
    """Of each instance, with seeds 1, 2, ...; None leaves it to the table."""
    world: World

    @property
    def is_try(self) -> bool:
        """Whether runs pass fewer generations than the paper's, or more."""
        return self.generations != self.paper_generations

    def run(self, problem: Problem, seed: int = 1, **options: Any) -> Result:
        """Return the result of one run; an interrupted one ends the experiment."""
        asked = self._asked(problem, seed, options)
        result = run_asked(asked, None, self.world, Output(), problem)
        if result.interrupted:
            raise KeyboardInterrupt
        return result

    def costs(self, problem: Problem, runs: int) -> list[float]:
        """Return the costs of runs, one after the other, that met a feasible solution."""
        results = (self.run(problem, seed) for seed in self.seeds(runs))
        return [result.cost for result in results if result.cost is not None]

    def beside(self, problem: Problem, runs: int, **options: Any) -> Together:
        """Return `runs` runs, with seeds 1, 2, ..., that went on side by side on one device."""
        spec = resolve(layers(self._asked(problem, 1, options)), problem)
        return run_beside(spec, problem, runs, take_device(self.world, self.backend))

    def seeds(self, runs: int) -> range:
        """Return the seeds of `runs` runs, or of as many as were asked for."""
        return range(1, (self.runs or runs) + 1)

    def stop(self) -> list[str]:
        """Return when runs end: as the preset says, but for the number of generations."""
        preset = layers({"preset": self.preset})[0].values
        others = [text for text in preset["stop"] if not text.startswith("generations=")]
        return [f"generations={self.generations}", *others]

    def words(self, presets: str) -> str:
        """Return how runs by these presets are made, and whether that is as in the paper."""
        ranks = f" on each of {self.world.size} ranks" if self.world.size > 1 else ""
        text = (
            f"preset {presets}, {counted(self.generations, 'generation')}, on {self.device}{ranks}"
        )
        if self.is_try:
            text += f"; a try, as the paper's runs pass {self.paper_generations}"
        return text

    def _asked(self, problem: Problem, seed: int, options: dict[str, Any]) -> dict[str, Any]:
        asked = {
            "instance": problem.instance,
            "preset": self.preset,
            "seed": seed,
            "backend": self.backend,
        }
        return {**asked, **({} if "stop" in options else {"stop": self.stop()}), **options}


@dataclass(frozen=True)
class Asked:
    """What was asked for, whatever the table."""

    backend: str
    device: str
    threads: tuple[int, ...]
    runs: int | None
    generations: int | None
    """None leaves them to the table."""
    world: World

    def experiment(self, preset: str, generations: int) -> Experiment:
        """Return the experiment of a table whose runs pass so many generations in the paper."""
        return Experiment(
            preset=preset,
            paper_generations=generations,
            generations=self.generations or generations,
            backend=self.backend,
            device=self.device,
            threads=self.threads,
            runs=self.runs,
            world=self.world,
        )
