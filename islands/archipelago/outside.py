"""Children that somebody else than a kernel judges, between two launches of a generation."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.schedule import Shape
from islands.backends.arguments import Struct
from islands.backends.base import Array, Backend
from islands.backends.state import Field, State
from islands.encodings import Encoding
from islands.problems.base import Problem

_BATCH_SECONDS = 0.1
_GENES, _COST, _WAITING = "children", "children_cost", "children_waiting"


def fields_for(shape: Shape, children: int) -> dict[str, Field]:
    """Return the arrays of so many `children` of each individual."""
    size = shape.population
    return {
        _GENES: Field((size, children, shape.pitch), shape.gene, kind="scratch"),
        _COST: Field((size, children), np.int64, kind="scratch"),
        _WAITING: Field((size,), np.int32, kind="scratch"),
    }


def seen(arrays: Mapping[str, Array]) -> Struct:
    """Return `Outside` of kernels/core/archipelago.cuh, which is null where kernels judge."""
    names = {"genes": _GENES, "cost": _COST, "waiting": _WAITING}
    return Struct(**{member: arrays.get(name) for member, name in names.items()})


class Outside:
    """The host as a judge: decodes by NumPy, and asks for the problem's exact costs."""

    def __init__(
        self, backend: Backend, problem: Problem, encoding: Encoding, state: State
    ) -> None:
        self._backend, self._problem, self._encoding = backend, problem, encoding
        self._genes, self._cost, self._waiting = (
            state.arrays[name] for name in (_GENES, _COST, _WAITING)
        )
        self._batch = 1
        self.judged = 0
        """How many children of this generation have been; for any thread."""

    def judge(self, is_told_to_leave: Callable[[], bool]) -> None:
        """Find the costs of all children that wait; of those alone before it `is_told_to_leave`.

        It asks about every tenth of a second. The first children are judged in any case, so that
        there are some.
        """
        places = np.arange(self._cost.shape[-1])
        waits = places < self._backend.download(self._waiting)[..., np.newaxis]
        genomes = self._backend.download(self._genes)[waits]
        found = np.zeros(len(genomes), np.int64)
        self.judged = 0
        while self.judged < len(genomes) and not (self.judged and is_told_to_leave()):
            batch = slice(self.judged, self.judged + self._batch)
            found[batch] = self._timed(genomes[batch])
            self.judged = min(batch.stop, len(genomes))
        costs = np.zeros(waits.shape, np.int64)
        costs[waits] = found
        self._backend.upload(costs, self._cost)
        if self.judged < len(genomes):
            waits[waits] = np.arange(len(genomes)) < self.judged
            self._backend.upload(waits.sum(axis=-1, dtype=np.int32), self._waiting)

    def _timed(self, genomes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the costs of genomes, and let the next batch take a tenth of a second."""
        began = time.perf_counter()
        costs = self._problem.costs(self._encoding.decode(genomes))
        each = (time.perf_counter() - began) / len(genomes)
        self._batch = max(1, min(int(_BATCH_SECONDS / max(each, 1e-9)), 2 * self._batch))
        return costs
