"""Evaluate solutions with the compiled functions of a problem, without an algorithm."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from islands.backends import takes_gpu
from islands.backends.arguments import Struct
from islands.backends.base import Backend, Block
from islands.backends.source import Source
from islands.errors import CompileError

if TYPE_CHECKING:
    from islands.modelling.problem import StatedProblem

_BLOCKS = 1024


@cache
def backend_of(name: str) -> Backend:
    """Return a backend for evaluations: the one with this name, or the first that exists."""
    from islands.backends.cpu import CpuBackend

    if name == "cuda":
        from islands.backends.cuda import CudaBackend

        return CudaBackend()
    try:
        return CpuBackend()
    except CompileError:
        if name == "cpu":
            raise
        return backend_of("cuda")


def other_backend(name: str) -> str:
    """Return the backend that checks the costs of a run on another one, if there are two."""
    if name == "cuda":
        return backend_of("").name
    return "cuda" if takes_gpu("auto") else "cpu"


def costs_of(
    problem: StatedProblem, solutions: NDArray[Any], backend: str = "", threads: int = 128
) -> NDArray[np.int64]:
    """Return the device's cost of each row of `solutions`."""
    device = backend_of(backend)
    members = {
        name: value if isinstance(value, np.generic) else device.upload(value)
        for name, value in problem.data().items()
    }
    data = Struct(**members)
    macros = {**problem.defines(), "ISLANDS_PROBLEM": problem.header}
    block = Block(threads) if not device.in_host_memory else Block()
    program = device.compile(Source("solutions.cuh", macros, {"problem::Data": data}), block)
    stored = device.upload(problem.kind.stored(solutions))
    costs = device.zeros((len(solutions),), np.int64)
    call = device.call(
        program,
        "evaluate_solutions",
        *(data, stored, np.int32(problem.size), np.int32(len(solutions)), costs),
        blocks=max(1, min(len(solutions), _BLOCKS)),
    )
    device.run([call])
    found = device.download(costs)
    problem.refuse_faults(data, device)
    return found
