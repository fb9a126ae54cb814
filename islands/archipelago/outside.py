"""Host evaluation of children, between two launches of a generation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.children import COST, GENES, WAITING
from islands.archipelago.program_parts import ProgramParts
from islands.backends.base import Backend
from islands.backends.state import State

_BATCH_SECONDS = 0.1


class Outside:
    """Evaluates children on the host: NumPy decodes, and the problem computes exact costs."""

    def __init__(self, parts: ProgramParts, backend: Backend, state: State) -> None:
        self._backend, self._problem, self._encoding = backend, parts.problem, parts.encoding
        self._genes, self._cost, self._waiting = (
            state.arrays[name] for name in (GENES, COST, WAITING)
        )
        self._batch = 1
        self.evaluated = 0
        """The number of children evaluated in this generation; for any thread."""
        self._seconds = 0.0

    @property
    def seconds(self) -> float:
        """The time that evaluations have taken."""
        return self._seconds

    def evaluate(self, must_stop: Callable[[], bool], *, is_first: bool) -> None:
        """Evaluate all waiting children, or those before `must_stop` returns true.

        `must_stop` is called about every tenth of a second. The first batch of generation 0
        (`is_first`) is always evaluated, so that it has an individual.
        """
        places = np.arange(self._cost.shape[-1])
        waits = places < self._backend.download(self._waiting)[..., np.newaxis]
        genomes = self._backend.download(self._genes)[waits]
        found = np.zeros(len(genomes), np.int64)
        self.evaluated = 0

        def must_leave() -> bool:
            return (self.evaluated > 0 or not is_first) and must_stop()

        while self.evaluated < len(genomes) and not must_leave():
            # Each process that calls a slow function takes a solution.
            if self._problem.python is not None:
                self._batch = max(self._batch, self._problem.python.callers)
            begin = self.evaluated
            costs = self._timed(genomes[begin : begin + self._batch], must_leave)
            self.evaluated += len(costs)
            found[begin : self.evaluated] = costs
        everything = np.zeros(waits.shape, np.int64)
        everything[waits] = found
        self._backend.upload(everything, self._cost)
        if self.evaluated < len(genomes):
            waits[waits] = np.arange(len(genomes)) < self.evaluated
            self._backend.upload(waits.sum(axis=-1, dtype=np.int32), self._waiting)

    def _timed(self, genomes: NDArray[Any], must_leave: Callable[[], bool]) -> NDArray[np.int64]:
        """Return the costs of genomes, and choose a batch that takes a tenth of a second.

        The costs of the last genomes are left out if they take too long.
        """
        began = time.perf_counter()
        solutions = self._problem.from_device(self._encoding.decode(genomes))
        costs = self._problem.device_costs(solutions, must_leave)
        took = time.perf_counter() - began
        self._seconds += took
        each = took / max(1, len(costs))
        self._batch = max(1, min(int(_BATCH_SECONDS / max(each, 1e-9)), 2 * self._batch))
        return costs
