"""Neighbours, local search and greedy tours on a device, and their definitions in Python."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.memory import neighbours_of
from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.backends.source import Source
from islands.encodings.direct import Doubled, Permutation
from islands.improvers import ImproverSettings
from islands.improvers.orders import OrOpt
from islands.paths import data_folder
from islands.problems.tsp import Tsp

_KERNEL = os.path.relpath(Path(__file__).parents[1] / "tours" / "tours.cuh", data_folder("kernels"))
_POOL, _PER_QUADRANT, _DEGREE = 48, 2, 10


class Tours:
    def __init__(self, backend: Backend, problem: Tsp, steps: int = 0, threads: int = 64) -> None:
        self.backend, self.problem, self.n = backend, problem, problem.near.nodes
        improver = OrOpt(ImproverSettings(name="or_opt", steps=steps), problem.size)
        encoding = Doubled if problem.near.is_directed else Permutation
        macros = {"ISLANDS_ENCODING": encoding.header, "ISLANDS_IMPROVER": improver.header}
        source = Source(_KERNEL, problem.defines() | macros)
        arrays = (backend.upload(each) for each in problem.arrays())
        self._data = Struct(**{f"array{i}": each for i, each in enumerate(arrays)})
        self._near = neighbours_of(lambda _, table: backend.upload(table), problem)
        self._plan = improver.plan(None, self._near)
        self._room = backend.required_room(source, np.int32(self.n), self._data, self._plan)
        block = backend.block(self._room, 16 * threads, 4, fewest=threads)
        self._program = backend.compile(source, block)
        arguments = (self._data, self._near, np.int32(self.n))
        backend.run([backend.call(self._program, "find_neighbours", *arguments, blocks=3)])

    def neighbours(self) -> NDArray[np.int32]:
        return np.asarray(self.backend.download(self._near.members["table"]))

    def improved(self, tours: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return tours after local search, and their lengths as it counts them."""
        orders = self.backend.upload(tours.astype(np.int32))
        lengths = self.backend.upload(self.problem.costs(tours))
        arguments = (np.int32(len(tours)), np.int32(self.n), self._data, self._plan)
        call = self.backend.call(
            self._program, "check_improve", *arguments, orders, lengths, blocks=4, room=self._room
        )
        self.backend.run([call])
        return self.backend.download(orders), self.backend.download(lengths)

    def greedy(self, count: int, spread: int) -> NDArray[np.int32]:
        return self._made("check_greedy", 6, count, spread)

    def nearest(self, count: int, spread: int) -> NDArray[np.int32]:
        """Return tours that always visit the nearest unvisited city."""
        return self._made("check_nearest", 3, count, spread)

    def assignment(self, count: int, spread: int) -> NDArray[np.int32]:
        """Return directed tours of optimal assignments, as nodes."""
        return self._made("check_assignment", 6, count, spread)

    def _made(self, kernel: str, arrays: int, count: int, spread: int) -> NDArray[np.int32]:
        orders = self.backend.zeros((count, self.n), np.int32)
        memory = self.backend.zeros((count, arrays, self.n), np.int32)
        numbers = (np.int32(count), np.int32(self.n), np.int32(spread))
        arguments = (*numbers, self._data, self._plan, orders, memory)
        self.backend.run([self.backend.call(self._program, kernel, *arguments, blocks=count)])
        return self.backend.download(orders)

    def curves(self, count: int, frame: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return tours along a space-filling curve."""
        orders = self.backend.zeros((count, self.n), np.int32)
        pitch = 1 << (self.n - 1).bit_length()
        words = self.backend.zeros((count, pitch), np.uint64)
        numbers = (np.int32(count), np.int32(self.n), np.int32(pitch))
        arguments = (*numbers, self._data, self.backend.upload(frame), orders, words)
        self.backend.run([self.backend.call(self._program, "check_curve", *arguments, blocks=2)])
        return self.backend.download(orders)


def distances(problem: Tsp) -> NDArray[np.int64]:
    every = np.arange(problem.size)
    return problem.near.between(every[:, np.newaxis], every[np.newaxis, :])


def is_end(problem: Tsp, city: int) -> bool:
    """Return whether a city is the first or the last one at its place."""
    here = np.flatnonzero((problem.file.coordinates == problem.file.coordinates[city]).all(axis=1))
    return city in (here[0], here[-1])


def expected_neighbours(problem: Tsp) -> NDArray[np.int32]:
    """Return the table of neighbours by comparing all pairs of cities."""
    n, coordinates = problem.size, problem.file.coordinates
    degree = min(_DEGREE, n - 1)
    rows = []
    for city in range(n):
        if problem.near.matrix is not None:
            far = problem.near.matrix[city].astype(float)
        else:
            far = ((coordinates - coordinates[city]) ** 2).sum(axis=1)
        far[city] = np.inf
        near = np.lexsort((np.arange(n), far))[: n - 1]
        if problem.near.matrix is not None:
            rows.append(near[:degree])
            continue
        here = [other for other in range(n) if (coordinates[other] == coordinates[city]).all()]
        place = here.index(city)
        twins = here[max(0, place - 1) : place] + here[place + 1 : place + 2]
        if len(twins) == 2:
            rows.append(np.array((twins * degree)[:degree]))
            continue
        ends = [other for other in near.tolist() if other not in here and is_end(problem, other)]
        pool, seen, chosen = np.array(ends[:_POOL], int), [0] * 4, set[int]()
        degree_left = degree - len(twins)
        for other in pool.tolist():
            above = coordinates[other] >= coordinates[city]
            quadrant = 2 * int(above[0]) + int(above[1])
            seen[quadrant] += 1
            if seen[quadrant] <= _PER_QUADRANT and len(chosen) < degree_left:
                chosen.add(other)
        for other in pool.tolist():
            if len(chosen) < degree_left:
                chosen.add(other)
        row = twins + [other for other in pool.tolist() if other in chosen]
        rows.append(np.array((row * degree)[:degree]))
    return np.array(rows, np.int32)


def is_local_optimum(problem: Tsp, tour: list[int], neighbours: NDArray[np.int32]) -> bool:
    """Return whether no move that joins a city and a neighbour shortens the tour.

    A move is a reversal, or moves up to three cities next to the neighbour. It removes an edge of
    the city that is longer than the one to the neighbour.
    """
    far = distances(problem)
    length = int(problem.costs(np.array([tour]))[0])
    return all(
        int(problem.costs(np.array([other]))[0]) >= length
        for place, city in enumerate(tour)
        for neighbour in neighbours[city].tolist()
        for step in (1, -1)
        if far[city, tour[(place + step) % len(tour)]] > far[city, neighbour]
        for other in _moved(tour, place, tour.index(neighbour), step)
    )


def _moved(tour: list[int], place: int, other: int, step: int) -> list[list[int]]:
    """Return the tours after the moves that join the cities at two places.

    They remove the edge from the first city in the direction `step`.
    """
    n = len(tour)
    # Turned so that the city is first and the tour continues against the step.
    turned = [tour[(place - step * i) % n] for i in range(n)]
    at = (place - other) * step % n
    found = [turned[:at][::-1] + turned[at:]]
    for count in (1, 2, 3):
        if at >= count and n >= 8:
            part, rest = turned[:count], turned[count:]
            where = rest.index(tour[other])
            # The city becomes adjacent to its neighbour, on either side of it.
            found.append(rest[: where + 1] + part + rest[where + 1 :])
            found.append(rest[:where] + part[::-1] + rest[where:])
    return found
