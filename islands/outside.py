"""Children that somebody else than a kernel judges, between two launches of a generation."""

from __future__ import annotations

import numpy as np

from islands.algorithms.schedule import Shape
from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.encodings import Encoding
from islands.problems.base import Problem

NOBODY = Struct(genes=None, cost=None, waiting=None)
"""`Outside` of kernels/core/archipelago.cuh where kernels judge."""


class Outside:
    """The host as a judge: decodes by NumPy, and asks for the problem's exact costs."""

    def __init__(
        self, backend: Backend, problem: Problem, encoding: Encoding, shape: Shape, children: int
    ) -> None:
        """Take the memory for so many `children` of each individual."""
        self._backend, self._problem, self._encoding = backend, problem, encoding
        self._genes = backend.empty((shape.individuals, children, shape.pitch), shape.gene)
        self._costs = backend.empty((shape.individuals, children), np.int64)
        self._waiting = backend.empty((shape.individuals,), np.int32)
        self._places = np.arange(children)
        self.seen = Struct(genes=self._genes, cost=self._costs, waiting=self._waiting)
        """What kernels see of it."""

    def judge(self) -> None:
        """Find the costs of all children that wait."""
        waits = self._places < self._backend.download(self._waiting)[:, np.newaxis]
        costs = np.zeros(waits.shape, np.int64)
        genomes = self._backend.download(self._genes)[waits]
        costs[waits] = self._problem.costs(self._encoding.decode(genomes))
        self._backend.upload(costs, self._costs)
