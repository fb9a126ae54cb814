"""Host evaluation of children, between two launches of a generation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.schedule import Shape
from islands.archipelago.program_parts import ProgramParts
from islands.backends.arguments import Struct
from islands.backends.base import Array, Backend
from islands.backends.state import Field, State
from islands.encodings import Encoding
from islands.problems.base import Problem

_BATCH_SECONDS = 0.1
_GENES, _COST, _WAITING = "children", "children_cost", "children_waiting"
_SOLUTIONS = "children_solutions"
_TILE = 32


def tiles_of(shape: Shape, children: int) -> int:
    """Return the tiles of an island's children: see kernels/problems/solution.cuh."""
    return -(-shape.population * children // _TILE)


def tile_bytes(parts: ProgramParts) -> int:
    """Return the bytes of a tile."""
    dtype, length = parts.problem.stored(in_tiles=True)
    return _TILE * length * dtype.itemsize


def fields_for(parts: ProgramParts, shape: Shape) -> dict[str, Field]:
    """Return the arrays for the children of each individual, and for their solutions."""
    size, children = shape.population, parts.algorithm.children
    fields = {
        _GENES: Field((size, children, shape.pitch), shape.gene, kind="scratch"),
        _COST: Field((size, children), np.int64, kind="scratch"),
        _WAITING: Field((size,), np.int32, kind="scratch"),
    }
    if parts.evaluation in ("thread", "batch"):
        dtype, length = parts.problem.stored(in_tiles=parts.evaluation == "thread")
        fields[_SOLUTIONS] = Field(
            (_TILE * tiles_of(shape, children), length), dtype, kind="scratch"
        )
    return fields


def seen(arrays: Mapping[str, Array]) -> Struct:
    """Return `Outside` of kernels/core/archipelago.cuh, with null pointers if kernels evaluate."""
    names = {"genes": _GENES, "cost": _COST, "waiting": _WAITING}
    names["solutions"] = _SOLUTIONS
    return Struct(**{member: arrays.get(name) for member, name in names.items()})


class Outside:
    """Evaluates children on the host: NumPy decodes, and the problem computes exact costs."""

    def __init__(
        self, backend: Backend, problem: Problem, encoding: Encoding, state: State
    ) -> None:
        self._backend, self._problem, self._encoding = backend, problem, encoding
        self._state = state
        self._genes, self._cost, self._waiting = (
            state.arrays[name] for name in (_GENES, _COST, _WAITING)
        )
        self._batch = 1
        self.evaluated = 0
        """The number of children evaluated in this generation; for any thread."""
        self.seconds = 0.0
        """The time that evaluations have taken."""

    def evaluate(self, must_stop: Callable[[], bool]) -> None:
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
        self.seconds += took
        each = took / max(1, len(genomes))
        self._batch = max(1, min(int(_BATCH_SECONDS / max(each, 1e-9)), 2 * self._batch))
        return costs

    def _costs(self, genomes: NDArray[Any]) -> NDArray[np.int64]:
        return self._problem.device_costs(self._encoding.decode(genomes))


class BatchOutside(Outside):
    """Evaluates children where they are: kernels decode, and a Python function takes the arrays."""

    _waited: NDArray[np.bool_] | None = None
    _chosen: tuple[Array, ...] = ()

    def evaluate(self, must_stop: Callable[[], bool]) -> None:
        """Evaluate all waiting children in one call."""
        count = self._backend.download(self._waiting)
        waits = (np.arange(self._cost.shape[-1]) < count[..., np.newaxis]).reshape(len(count), -1)
        with self._backend.python() as module:
            if self._waited is None or not np.array_equal(waits, self._waited):
                self._chosen = tuple(module.asarray(each) for each in np.nonzero(waits))
                self._waited = waits
            costs = self._timed(self._state.arrays[_SOLUTIONS][self._chosen])
            self._cost.reshape(waits.shape)[self._chosen] = costs
        self.evaluated = int(waits.sum())

    def _costs(self, stored: Any) -> Any:
        return self._problem.batch_costs(stored)


def evaluator(parts: ProgramParts, backend: Backend, state: State) -> Outside | None:
    """Return who evaluates children between launches, unless a kernel does."""
    if parts.evaluation not in ("host", "batch"):
        return None
    kind = BatchOutside if parts.evaluation == "batch" else Outside
    return kind(backend, parts.problem, parts.encoding, state)
