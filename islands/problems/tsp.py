"""The travelling salesman problem: find the shortest closed tour through all cities.

Lengths follow the rounding rules of TSPLIB, so they are integers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.source import Header, Macros
from islands.errors import RunError, UsageError
from islands.instances import tsplib
from islands.instances.catalogue import BestKnown
from islands.instances.tsplib import TspFile, read_tour, read_tsp, tour_fault, write_tour
from islands.problems.base import Problem, Solution
from islands.problems.neighbours import DEGREE, chain_of, tree_of, twins_of

_EDGES_AT_ONCE = 1 << 20
_PI = 3.141592
_EARTH_RADIUS = 6378.388
_VERY_FEW = 12
"""Up to this number of cities, 2-opt and Or-opt alone find the shortest tour many times."""

Floats = NDArray[np.float64]


class Tsp(Problem):
    """A symmetric instance, from coordinates or from a matrix of weights."""

    name: str = "tsp"
    header: Header = Header("problems/tsp.cuh")
    solution_kind: str = "order"
    moves: tuple[str, ...] = ("swap", "reversal", "insertion")
    solution_suffix: ClassVar[str] = ".tour"
    cyclic: ClassVar[bool] = True
    cost_word: ClassVar[str] = "length"
    has_neighbours: bool = True
    colonies: ClassVar[tuple[str, ...]] = (
        "algorithm=brkga",
        "algorithm=ga encoding=permutation improver=two_opt population=64",
    )
    has_bound: ClassVar[bool] = True

    def __init__(
        self, file: TspFile, instance: str | None = None, best_known: BestKnown | None = None
    ) -> None:
        self.instance = instance or file.name
        self.size = file.dimension
        self.best_known = best_known
        self.file, self.path = file, file.path
        self.metric = file.metric
        self._coordinates = file.coordinates
        self._matrix = file.matrix
        if file.metric == "GEO":
            self._matrix = _geo_matrix(file)
        self.places = self._coordinates if self._matrix is None else None

    @classmethod
    def read(
        cls, path: Path, instance: str | None = None, best_known: BestKnown | None = None
    ) -> Tsp:
        """Return the instance in a TSPLIB file."""
        return cls(read_tsp(path), instance or str(path), best_known)

    def defaults(self) -> dict[str, Any]:
        """Return edge assembly crossover, and for very few cities an early end."""
        early = {"stop": ["generations=100"]} if self.size <= _VERY_FEW else {}
        return {"algorithm": "eax"} | early

    def defines(self) -> Macros:
        """Return the macros that select the source of distances and their rounding."""
        return {"TSP_METRIC": "TSP_MATRIX" if self._matrix is not None else f"TSP_{self.metric}"}

    def delta_items(self, move: str) -> int:
        """Return the number of edges that a move removes or adds."""
        return {"reversal": 4, "insertion": 6, "swap": 8}[move]

    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the distance matrix if there is one, otherwise the coordinates."""
        return [self._matrix if self._matrix is not None else np.ascontiguousarray(self._places())]

    def neighbours(self) -> dict[str, NDArray[Any]]:
        """Return a tree of the cities, or for a matrix a chain of them, and an empty table."""
        if self._matrix is not None:
            leaf = np.zeros(1)
            axis, cities = leaf.astype(np.int32), chain_of(self._matrix)
            tree: dict[str, NDArray[Any]] = {"cities": cities, "axis": axis, "split": leaf}
            tree["twins"] = np.full((2, self.size), -1, np.int32)
        else:
            tree = tree_of(self._places())
            tree["twins"] = twins_of(self._places())
        degree = max(1, min(DEGREE, self.size - 1))
        return tree | {"table": np.zeros((self.size, degree), np.int32)}

    def costs(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the length of each row, a closed tour."""
        count, n = solutions.shape
        rows = max(1, _EDGES_AT_ONCE // n)
        lengths = np.empty(count, np.int64)
        for start in range(0, count, rows):
            tours = solutions[start : start + rows]
            edges = self.distances(tours, np.roll(tours, -1, axis=1))
            lengths[start : start + rows] = edges.sum(axis=1)
        return lengths

    def edge_lengths(self, tour: Solution) -> NDArray[np.int64]:
        """Return the length of each edge of a closed tour, in its order."""
        return self.distances(tour, np.roll(tour, -1))

    def distances(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the distances between the cities of `a` and `b`, element by element."""
        if self._matrix is not None:
            return self._matrix[a, b].astype(np.int64)
        difference = self._places()[a] - self._places()[b]
        squares = difference[..., 0] ** 2 + difference[..., 1] ** 2
        return _rounded(self.metric, squares).astype(np.int64)

    def nearest(self, count: int) -> NDArray[np.int64]:
        """Return `count` cities near each city: the nearest ones, perhaps itself among them."""
        from scipy.spatial import KDTree

        if self._matrix is None:
            found = KDTree(self._places()).query(self._places(), k=count)[1]
            return np.asarray(found, np.int64).reshape(self.size, count)
        table = np.empty((self.size, count), np.int64)
        for city, row in enumerate(self._matrix):
            table[city] = np.argpartition(row, count - 1)[:count]
        return table

    def check(self, solution: Solution) -> None:
        """Raise a `RunError` if `solution` does not visit each city once."""
        fault = tour_fault(solution, self.size)
        if fault is not None:
            raise RunError(f"not a tour of {self.instance}: {fault}. Each city must appear once")

    def read_solution(self, path: Path) -> Solution:
        """Return the tour in a `.tour` file, a JSON file or a run's folder."""
        return read_tour(path, self.size)

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        """Write a TSPLIB tour."""
        write_tour(path, self.instance, solution, cost)

    def _places(self) -> Floats:
        assert self._coordinates is not None, "the reader gives coordinates or a matrix"
        return self._coordinates


def _rounded(metric: str, squares: Floats) -> Floats:
    """Return rounded distances, as floating-point numbers, from squared ones."""
    if metric == "EUC_2D":
        return np.floor(np.sqrt(squares) + 0.5)
    if metric == "CEIL_2D":
        return np.ceil(np.sqrt(squares))
    exact = np.sqrt(squares / 10.0)
    nearest = np.floor(exact + 0.5)
    return nearest + (nearest < exact)


def _geo_matrix(file: TspFile) -> NDArray[np.int32]:
    """Return geographical distances between coordinates in degrees and minutes (DDD.MM).

    They are computed here once, because trigonometric functions differ in the last bit between
    devices.
    """
    assert file.coordinates is not None, "the reader gives coordinates to a GEO instance"
    n = file.dimension
    if n > tsplib.LARGEST:
        raise UsageError(
            f"{file.path or file.name}: DIMENSION {n} with EDGE_WEIGHT_TYPE GEO: at most "
            f"{tsplib.LARGEST} cities, since their matrix must fit in memory. "
            "Project the coordinates to a plane and use EUC_2D"
        )
    degrees = np.trunc(file.coordinates)
    radians = _PI * (degrees + 5.0 * (file.coordinates - degrees) / 3.0) / 180.0
    latitude, longitude = radians[:, 0], radians[:, 1]
    matrix = np.empty((n, n), np.int32)
    for city in range(n):
        q1 = np.cos(longitude[city] - longitude)
        q2 = np.cos(latitude[city] - latitude)
        q3 = np.cos(latitude[city] + latitude)
        cosine = np.clip(0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3), -1.0, 1.0)
        matrix[city] = np.trunc(_EARTH_RADIUS * np.arccos(cosine) + 1.0)
    np.fill_diagonal(matrix, 0)
    return matrix
