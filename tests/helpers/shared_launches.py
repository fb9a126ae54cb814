"""Instances that share launches, and what they are compared with: each of them alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import islands
from islands.backends.base import Backend
from islands.configuration.given import gathered, of_table
from islands.errors import IslandsError
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.run.preparing import Preparing, Wanted
from islands.run.queue import Queue


def options(settings: dict[str, Any], backend: Backend) -> dict[str, Any]:
    return gathered(of_table({**settings, "backend": backend.name}))


def found(
    problems: Iterable[Problem],
    backend: Backend,
    is_over: Callable[[], bool] = lambda: False,
    **settings: Any,
) -> dict[int, Result | IslandsError]:
    """Return the results of problems that share launches, by their number."""
    every = list(problems)
    preparing = Preparing(
        backend, lambda wanted: options({**settings, "seed": wanted.seed}, backend)
    )

    def alone(number: int) -> Result:
        return islands.solve(every[number], backend="cpu", threads=1, seed=4 + number, **settings)

    def prepare(number: int) -> Any:
        own = every[number]
        return preparing.waiting(number, Wanted(own.instance, own, 4 + number))

    return dict(Queue(iter(range(len(every))), prepare, alone, backend, is_over).results())


def facts(result: Any) -> tuple[Any, ...]:
    numbers = (result.generations, result.evaluations, result.island, result.best_generation)
    return (result.digest, result.cost, result.reason, result.solution.tolist(), *numbers)
