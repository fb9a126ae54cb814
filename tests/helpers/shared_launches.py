"""Instances that share launches, compared with the same instances solved alone."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest
from programs_for_tests import for_gpu, require_compiles

import islands
from islands.backends import choose
from islands.backends.base import Backend, Block, CompiledProgram
from islands.backends.cpu import CpuBackend
from islands.backends.source import Source
from islands.configuration.request import Request
from islands.engine.plan import Plan
from islands.engine.queue import Queue
from islands.engine.shared import VisitRecords
from islands.errors import IslandsError
from islands.problems.base import Problem
from islands.progress.result import Result


def asked_of(settings: dict[str, Any], backend: Backend) -> Request:
    return Request.of({**settings, "backend": backend.name})


class ProblemsInTurn(Plan[int]):
    """Problems with the same settings, which have the seeds 4, 5, ...; cells are their numbers."""

    def __init__(self, problems: Sequence[Problem], backend: Backend, **settings: Any) -> None:
        self.problems, self.backend, self.settings = problems, backend, settings

    def request(self, cell: int) -> tuple[Request, Problem]:
        problem = self.problems[cell]
        own = {"instance": problem.instance, "seed": 4 + cell}
        return asked_of({**self.settings, **own}, self.backend), problem


def found(
    problems: Iterable[Problem],
    backend: Backend,
    is_over: Callable[[], bool] = lambda: False,
    keys: Iterator[int | None] | None = None,
    **settings: Any,
) -> dict[int, Result | IslandsError]:
    """Return the results of problems that share launches, by their number.

    `keys` yields the numbers as they become known, and None if none is known yet.
    """
    plan = ProblemsInTurn([*problems], backend, **settings)
    numbers = iter(range(len(plan.problems))) if keys is None else keys
    return dict(Queue(plan, numbers, backend, is_over).results(backend))


def facts(result: Any) -> tuple[Any, ...]:
    numbers = (result.generations, result.evaluations, result.island, result.best_generation)
    return (result.digest, result.cost, result.reason, result.solution.tolist(), *numbers)


def alone(problem: Problem, number: int, **settings: Any) -> Result:
    """Return the result of a problem alone, with the seed of its number."""
    return islands.solve(problem, backend="cpu", threads=1, seed=4 + number, **settings)


def require_as_alone(mine: Any, other: Result) -> None:
    """Require the result and the records of a problem alone."""
    assert isinstance(mine, Result), mine
    assert facts(mine) == facts(other)
    for name in ("violation", "checked", "bound_kind"):
        assert getattr(mine, name) == getattr(other, name)
    if max(mine.seconds, other.seconds) < 1:  # others have rows that depend on the clock
        assert without_times(mine.trace()) == without_times(other.trace())
    assert without_times(mine.migrations()) == without_times(other.migrations())


def without_times(table: Any) -> Any:
    return table.drop_columns([n for n in ("seconds", "microseconds") if n in table.column_names])


def require_same(problems: Sequence[Problem], backend: Backend, **settings: Any) -> list[int]:
    """Require the results of each when alone; return the numbers of those that shared launches."""
    every = found(problems, backend, **settings)
    for number, problem in enumerate(problems):
        require_as_alone(every[number], alone(problem, number, **settings))
    return [k for k, mine in sorted(every.items()) if isinstance(mine.records, VisitRecords)]


def sources_of(monkeypatch: pytest.MonkeyPatch) -> list[Source]:
    """Return a list that gets the source of each program that is compiled for CPUs."""
    compiled, original = list[Source](), CpuBackend.compile

    def noted(backend: CpuBackend, source: Source, block: Block) -> CompiledProgram:
        compiled.append(source)
        return original(backend, source, block)

    monkeypatch.setattr(CpuBackend, "compile", noted)
    return compiled


def require_compiles_for_gpus(
    monkeypatch: pytest.MonkeyPatch, problems: Iterable[Problem], **settings: Any
) -> None:
    """Run problems that share launches, and compile their programs for GPUs."""
    compiled = sources_of(monkeypatch)
    found(problems, choose("cpu", 1), **settings)
    own = [each for each in compiled if "ISLANDS_RUNS" in each.defines]
    assert {each.entry for each in own} == {"program.cuh", "population.cuh"}
    for each in own:
        require_compiles(for_gpu(each.entry, each.defines, Block(256), each.structs))
