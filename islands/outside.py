"""Children that somebody else than a kernel judges, between two launches of a generation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from islands.algorithms.schedule import Shape
from islands.backends.arguments import Struct
from islands.backends.base import Array, Backend
from islands.encodings import Encoding
from islands.problems.base import Problem
from islands.state import Field, State

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

    def judge(self) -> None:
        """Find the costs of all children that wait."""
        places = np.arange(self._cost.shape[-1])
        waits = places < self._backend.download(self._waiting)[..., np.newaxis]
        costs = np.zeros(waits.shape, np.int64)
        genomes = self._backend.download(self._genes)[waits]
        costs[waits] = self._problem.costs(self._encoding.decode(genomes))
        self._backend.upload(costs, self._cost)
