"""Find the edges of the complete graph's minimum spanning tree that a sparse graph lacks.

The tree is laid out as a line of cities: two components joined by an edge are placed one after the
other. The longest tree edge between two cities is then the widest gap between their places.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Null, Struct
from islands.backends.base import Array, Backend, Block
from islands.backends.source import Source
from islands.bounds.graph import Graph, Ints
from islands.problems.base import Problem

# Constants of kernels/bounds/shorter_edges.cuh.
_TILE, _MOST = 64, 4
_THREADS, _BLOCKS = 128, 1024
_TRIAL = 0.2  # seconds after which the time of all launches can be predicted
_FEW = 4096
"""On a CPU, the clock is read after the comparison of about `_FEW`^2 / 2 pairs of cities. A GPU
compares all pairs in one launch, with a thread per city."""


_LINE = Struct(
    city=Null(np.int32),
    **dict.fromkeys(("gap", "multiplier", "widest", "least"), Null(np.int64)),
    box=Null(np.float64),
    scale=np.int64(0),
)
"""`Line` of kernels/bounds/shorter_edges.cuh without data, for the check of its members."""


@dataclass(frozen=True)
class TimeLimit:
    """A time limit from now on, which ends early if `is_stopped` returns True."""

    seconds: float
    is_stopped: Callable[[], bool]
    began: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """The elapsed seconds."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        """The remaining seconds; 0 if it is over."""
        return 0.0 if self.is_stopped() else max(0.0, self.seconds - self.elapsed)

    @property
    def share(self) -> float:
        """The share of the time that has passed, from 0 to 1."""
        return 1.0 if self.left == 0.0 else self.elapsed / self.seconds

    def part(self, share: float) -> TimeLimit:
        """Return a limit for a share of the remaining time."""
        return TimeLimit(share * self.left, self.is_stopped)


@dataclass(frozen=True)
class ShorterEdges:
    """Edges that are shorter than the tree's longest edge between the same cities."""

    starts: Ints
    ends: Ints
    is_all: bool
    """Whether all such edges are included."""


class Pricing:
    """Compares the edges of the complete graph with a tree, on a device."""

    def __init__(self, problem: Problem, backend: Backend) -> None:
        """Compile the program and copy the data of the problem."""
        self._backend, self._size = backend, problem.size
        self._places = None if problem.near is None else problem.near.places
        self._data = backend.uploaded(problem.device_data())
        macros = {**problem.defines(), "ISLANDS_PROBLEM": problem.header}
        block = Block() if backend.in_host_memory else Block(_THREADS)
        source = Source(
            "bounds/shorter_edges.cuh", macros, {"problem::Data": self._data, "bounds::Line": _LINE}
        )
        self._program = backend.compile(source, block)

    @cached_property
    def _outcome(self) -> tuple[Array, Array]:
        shape = (self._size, _MOST)
        return self._backend.zeros(shape[:1], np.int32), self._backend.zeros(shape, np.int32)

    def find(self, graph: Graph, multipliers: Ints, limit: TimeLimit) -> ShorterEdges | None:
        """Return missing edges of the complete graph's spanning tree, or None at the time limit."""
        weights = graph.weights(multipliers)
        edges = graph.spanning_tree(weights).edges
        edges = edges[np.argsort(weights[edges], kind="stable")]
        cities, gaps = line_of(self._size, graph.starts[edges], graph.ends[edges], weights[edges])
        line = self._line(cities, gaps, multipliers[cities], graph.scale)
        counts, shorter = self._outcome
        parts = (-(-self._size // _FEW)) ** 2 if self._backend.in_host_memory else 1
        began = time.perf_counter()
        for part in range(parts):
            numbers = np.array([self._size, part, parts], np.int32)
            arguments = (self._data, line, *numbers, counts, shorter)
            call = self._backend.call(
                self._program, "find_shorter_edges", *arguments, blocks=_BLOCKS
            )
            self._backend.run([call])
            self._backend.synchronise()
            # All parts take the same time.
            spent = time.perf_counter() - began
            expected = spent / (part + 1) * (parts - part - 1)
            if expected > limit.left and (spent > _TRIAL or limit.left == 0.0):
                return None
        count, table = self._backend.download(counts), self._backend.download(shorter)
        is_found = np.arange(_MOST) < count[:, np.newaxis]
        starts = np.broadcast_to(cities[:, np.newaxis], table.shape)[is_found]
        return ShorterEdges(starts, table[is_found].astype(np.int64), bool((count <= _MOST).all()))

    def _line(self, cities: Ints, gaps: Ints, multipliers: Ints, scale: int) -> Struct:
        """Return `Line` of kernels/bounds/shorter_edges.cuh."""
        firsts = np.arange(0, self._size, _TILE)
        inner = gaps.copy()
        inner[_TILE - 1 :: _TILE] = gaps.min()  # to the next tile
        places, box = self._places, np.zeros((len(firsts), 4))
        if places is not None:
            box[:, :2] = np.minimum.reduceat(places[cities], firsts)
            box[:, 2:] = np.maximum.reduceat(places[cities], firsts)
        arrays: dict[str, NDArray[np.generic]] = {
            "city": cities.astype(np.int32),
            "gap": gaps,
            "multiplier": multipliers,
            "widest": np.maximum.reduceat(inner, firsts),
            "least": np.minimum.reduceat(multipliers, firsts),
            "box": box,
        }
        on_device = {name: self._backend.upload(array) for name, array in arrays.items()}
        return Struct(**on_device, scale=np.int64(scale))


def line_of(size: int, starts: Ints, ends: Ints, weights: Ints) -> tuple[Ints, Ints]:
    """Return the cities of a tree in a line, and the gap after each place.

    The edges are those of the tree, shortest first. The last gap belongs to no edge.
    """
    path, last, after = list(range(size)), list(range(size)), [-1] * size
    gap = [int(weights[0])] * size

    def first(city: int) -> int:
        while path[city] != city:
            path[city] = path[path[city]]
            city = path[city]
        return city

    for start, end, weight in zip(starts.tolist(), ends.tolist(), weights.tolist(), strict=True):
        left, right = first(start), first(end)
        after[last[left]], gap[last[left]] = right, weight
        last[left], path[right] = last[right], left
    cities = np.empty(size, np.int64)
    city = first(0)
    for place in range(size):
        cities[place], city = city, after[city]
    return cities, np.array(gap)[cities]
