"""Make one run and follow its best cost."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import islands
from islands.campaign.engine import completed
from islands.configuration.spec import RunSpec
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Progress, is_better
from islands.progress.result import Result
from islands.record.provenance import sources
from islands.run.build import RankOptions
from islands.run.runner import run
from islands.run.single import Output

_DEFAULT = RankOptions()


class Course:
    """Collects each better cost with the time at which it was seen."""

    def __init__(self, *, maximise: bool) -> None:
        self._maximise = maximise
        self.points: list[tuple[float, float]] = []
        self.first: Progress | None = None
        """The progress that was seen first, after generation 0."""

    def see(self, progress: Progress) -> None:
        """Add the cost at the end of an epoch if it is better."""
        self.first = self.first or progress
        self.add(progress.seconds, progress.cost)

    def add(self, seconds: float, cost: float | None) -> None:
        """Add a cost if it is better."""
        best = self.points[-1][1] if self.points else None
        if cost is not None and is_better(cost, best, maximise=self._maximise):
            self.points.append((seconds, cost))


def traced(spec: RunSpec, problem: Problem, world: World) -> dict[str, Any]:
    """Return what a run of `RunRow` depends on its result; collective."""
    made, _, _ = followed(spec, problem, world)
    return made


def followed(
    spec: RunSpec, problem: Problem, world: World, rank_options: RankOptions = _DEFAULT
) -> tuple[dict[str, Any], Result, Course]:
    """Return what a run of `RunRow` depends on its result, this result and the course; collective.

    The course has points on rank 0 only.
    """
    course, began = Course(maximise=problem.maximise), time.perf_counter()
    result = completed(run(spec, problem, world, Output(callback=course.see), rank_options))
    whole = time.perf_counter() - began
    course.add(result.seconds, result.cost)
    made = {
        **_method(result),
        "cost": result.cost,
        "seconds": result.seconds,
        "other_seconds": max(0.0, whole - result.seconds - result.compile_seconds),
        "generations": result.generations,
        "evaluations": result.evaluations,
        "proved": False,
        "course": course.points,
    }
    return made, result, course


def _method(result: Result) -> dict[str, Any]:
    return {
        "device": result.device,
        "ranks": result.ranks,
        "algorithm": result.algorithm,
        "islands": result.islands,
        "population": result.population,
    }


def facts(problem: Problem) -> dict[str, Any]:
    """Return the facts of an instance that a `RunRow` has."""
    known, of_set = problem.best_known, set_of(problem.instance)
    size = f"{problem.constraints} x {problem.size}"
    return {
        "instance": problem.instance,
        "group": f"{of_set} {size}" if of_set == "orlib" else of_set,
        "size": problem.size,
        "constraints": problem.constraints,
        "maximise": problem.maximise,
        "reference": known.value if known is not None else None,
        "is_known": known is not None,
    }


def set_of(instance: str) -> str:
    """Return the set of an instance, or its name if it belongs to none."""
    return instance.rpartition("/")[0] or instance


def program() -> Mapping[str, Any]:
    """Return what distinguishes versions of this program: runs of another are not used."""
    return {"version": islands.__version__, "sources": sources()}
