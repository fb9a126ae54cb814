"""All ways to evaluate the solutions of a problem: compiled code on each backend, and Python."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.backends import automatic
from islands.backends.base import Backend
from islands.check.program import CheckProgram
from islands.errors import CompileError
from islands.modelling.functions import costs_by
from islands.modelling.problem import StatedProblem
from islands.modelling.program import backend_of
from islands.problems.base import Problem

_THREADS = (32, 128, 1024)
"""Threads per block on a GPU."""

Evaluate = Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any]]]


@dataclass(frozen=True)
class Way:
    """A way to evaluate solutions."""

    name: str
    evaluate: Evaluate
    """Returns costs in the sense of the problem, and the solutions after their evaluation."""
    program: CheckProgram | None = None

    def timed(self, solutions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], float]:
        """Return costs and solutions, and the number of solutions per second."""
        began = time.perf_counter()
        costs, found = self.evaluate(solutions)
        return costs, found, len(solutions) / max(1e-9, time.perf_counter() - began)


def backends() -> tuple[list[Backend], list[str]]:
    """Return the backends that exist, and why others do not."""
    found, missing = [], []
    try:
        found.append(backend_of("cpu"))
    except CompileError as error:
        missing.append(f"not checked on a CPU: {error}")
    usual, reason = automatic()
    if usual == "cuda":
        found.append(backend_of("cuda"))
    else:
        missing.append(f"not checked on a GPU: {reason}")
    return found, missing


def compiled_ways(problem: Problem, found: list[Backend]) -> Iterator[Way]:
    """Yield the ways of compiled code: on the CPU, and in blocks of several sizes on a GPU."""
    for backend in found:
        for threads in (1,) if backend.in_host_memory else _THREADS:
            program = CheckProgram(problem, backend, threads)
            name = "CPU" if backend.in_host_memory else f"GPU, {threads} threads"
            yield Way(f"cost, {name}", _by_program(problem, program), program)


def python_ways(problem: Problem, found: list[Backend]) -> Iterator[Way]:
    """Yield the functions of Python; the first is the reference if there is one."""
    if not isinstance(problem, StatedProblem):
        yield Way(
            "NumPy", lambda solutions: (problem.value_of(problem.costs(solutions)), solutions)
        )
        return
    if problem.reference is not None:
        yield Way("reference", _by_function(problem, problem.reference, "reference", None))
    if problem.python is None:
        return
    argument, function = problem.python
    yield Way(
        f"{argument}, NumPy" if argument == "batch" else argument,
        _by_function(problem, function, argument, None),
    )
    if argument == "batch":
        for backend in found:
            if not backend.in_host_memory:
                yield Way("batch, CuPy", _by_function(problem, function, argument, backend))


def _by_program(problem: Problem, program: CheckProgram) -> Evaluate:
    def evaluate(solutions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        units, found = program.costs(solutions)
        if problem.marks:
            units = units >> 1
        return np.asarray(problem.own_sense(units)), found

    return evaluate


def _by_function(
    problem: StatedProblem,
    function: Callable[..., Any],
    argument: str,
    backend: Backend | None,
) -> Evaluate:
    def evaluate(solutions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        is_batch, given = argument != "function", solutions
        if backend is None:
            costs = costs_by(function, argument, given, is_batch=is_batch, real=problem.real)
            return costs, solutions
        with backend.python() as module:
            given = module.asarray(solutions)
            costs = costs_by(function, argument, given, is_batch=is_batch, real=problem.real)
            return backend.download(costs), solutions

    return evaluate
