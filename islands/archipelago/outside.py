"""Host evaluation of children, between two launches of a generation."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.children import COST, GENES, SOLUTIONS, WAITING
from islands.archipelago.launches import Launches
from islands.archipelago.program_parts import ProgramParts
from islands.backends.base import Backend
from islands.backends.state import State

_BATCH_SECONDS = 0.1
_AHEAD = 2
"""Calls of a function that a GPU may have before it: few, so that a run can be ended soon."""


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

        `must_stop` is called about every tenth of a second. The first batch is always evaluated,
        so that some children have costs.
        """
        places = np.arange(self._cost.shape[-1])
        waits = places < self._backend.download(self._waiting)[..., np.newaxis]
        genomes = self._backend.download(self._genes)[waits]
        found = np.zeros(len(genomes), np.int64)
        self.evaluated = 0
        while self.evaluated < len(genomes) and not (self.evaluated and must_stop()):
            batch = slice(self.evaluated, self.evaluated + self._batch)
            found[batch] = self._timed(genomes[batch])
            self.evaluated = min(batch.stop, len(genomes))
        costs = np.zeros(waits.shape, np.int64)
        costs[waits] = found
        self._backend.upload(costs, self._cost)
        if self.evaluated < len(genomes):
            waits[waits] = np.arange(len(genomes)) < self.evaluated
            self._backend.upload(waits.sum(axis=-1, dtype=np.int32), self._waiting)

    def _timed(self, genomes: Any) -> Any:
        """Return the costs of genomes, and choose a batch that takes a tenth of a second."""
        began = time.perf_counter()
        costs = self._costs(genomes)
        took = time.perf_counter() - began
        self._seconds += took
        each = took / max(1, len(genomes))
        self._batch = max(1, min(int(_BATCH_SECONDS / max(each, 1e-9)), 2 * self._batch))
        return costs

    def _costs(self, genomes: NDArray[Any]) -> NDArray[np.int64]:
        solutions = self._encoding.decode(genomes)
        return self._problem.device_costs(self._problem.from_device(solutions))


class BatchOutside(Outside):
    """Evaluates children where they are: kernels decode, and a Python function takes the arrays.

    On a GPU, the host prepares a generation during the previous ones: it only asks which children
    wait if that may have changed.
    """

    def __init__(self, parts: ProgramParts, backend: Backend, state: State, launches: Launches):
        super().__init__(parts, backend, state)
        self._launches = launches
        solutions = state.arrays[SOLUTIONS]
        self._solutions = solutions.reshape(-1, solutions.shape[-1])
        self._rows_an_island = solutions.shape[1]
        kind = np.float64 if parts.problem.real else np.int64
        self._returned = backend.empty((self._cost.size,), kind)
        self._may_change = not parts.algorithm.same_slots or parts.algorithm.patience > 0
        self._counts: NDArray[np.int32] | None = None
        self._spans: deque[tuple[Any, Any]] = deque()

    def evaluate(self, must_stop: Callable[[], bool], *, is_first: bool) -> None:
        """Evaluate all waiting children in one call."""
        if is_first or self._may_change or self._counts is None:
            self._locate()
        if is_first:
            self._counts = None  # other children will wait in the next generation
        self.evaluated = len(self._rows)
        if self.evaluated == 0:
            return
        with self._backend.python():
            stored = self._solutions.take(self._rows, axis=0)
            begin = self._backend.mark()
            costs = self._problem.batch_costs(stored)
            self._spans.append((begin, self._backend.mark()))
            self._returned[: self.evaluated] = costs
        self._backend.run([self._taking])
        self._count_seconds(_AHEAD)

    def _locate(self) -> None:
        """Find the solutions of waiting children, and the places of their costs."""
        counts = self._backend.download(self._waiting)
        if self._counts is not None and np.array_equal(counts, self._counts):
            return
        waits = np.arange(self._cost.shape[-1]) < counts[..., np.newaxis]
        place = np.flatnonzero(waits)
        island, child = np.divmod(place, waits[0].size)
        self._rows = self._backend.upload(island * self._rows_an_island + child)
        self._taking = self._launches.taking_costs(self._returned, self._backend.upload(place))
        self._counts = counts.copy()

    def _count_seconds(self, but: int) -> None:
        """Wait for all calls but the last ones, and count their time."""
        while len(self._spans) > but:
            begin, end = self._spans.popleft()
            self._backend.wait_for(end)
            self._seconds += self._backend.seconds_between(begin, end)

    @property
    def seconds(self) -> float:
        """The time that evaluations have taken."""
        self._count_seconds(0)
        return self._seconds


def evaluator(
    parts: ProgramParts, backend: Backend, state: State, launches: Launches
) -> Outside | None:
    """Return who evaluates children between launches, unless a kernel does."""
    if parts.evaluation == "batch":
        return BatchOutside(parts, backend, state, launches)
    return Outside(parts, backend, state) if parts.evaluation == "host" else None
