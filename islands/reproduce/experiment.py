"""The runs of an experiment: a paper's preset, on the backend that was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from islands.parallel import World
from islands.problems.base import Problem
from islands.run.result import Result
from islands.run.runner import Output, run_asked


@dataclass(frozen=True)
class Experiment:
    """What all runs share."""

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

    def run(self, problem: Problem, seed: int = 1, **options: Any) -> Result:
        """Return the result of one run; an interrupted one ends the experiment."""
        asked = {
            "instance": problem.instance,
            "preset": self.preset,
            "seed": seed,
            "stop": f"generations={self.generations}",
            "backend": self.backend,
        }
        result = run_asked(asked | options, None, self.world, Output(), problem)
        if result.interrupted:
            raise KeyboardInterrupt
        return result

    def seeds(self, runs: int) -> range:
        """Return the seeds of `runs` runs, or of as many as were asked for."""
        return range(1, (self.runs or runs) + 1)

    def words(self) -> str:
        """Return how runs are made, and whether that is as in the paper."""
        ranks = f" on each of {self.world.size} ranks" if self.world.size > 1 else ""
        text = f"preset {self.preset}, {self.generations} generations, on {self.device}{ranks}"
        if self.generations != self.paper_generations:
            text += f"; a try, as the paper's runs pass {self.paper_generations}"
        return text
