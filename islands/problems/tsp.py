"""The travelling salesman problem: find the shortest closed tour through all cities.

Files have whole lengths, by the rules of TSPLIB. Coordinates from arrays have exact ones, unless
`metric` is such a rule.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.backends.source import Header, Macros
from islands.errors import RunError
from islands.instances.catalogue import BestKnown
from islands.instances.solution_files import Remark
from islands.instances.tsplib import METRICS, TspFile, read_tour, read_tsp, tour_fault, write_tour
from islands.problems.arrays import Arrays, packed
from islands.problems.base import Problem, Solution
from islands.problems.capabilities import Layout, ProblemWords
from islands.problems.distances import Distances
from islands.problems.evaluation import Evaluation
from islands.problems.rounding import remarks_on_rounding
from islands.problems.scale import Scale
from islands.text import shown

_EDGES_AT_ONCE = 1 << 20


class Tsp(Problem):
    """A symmetric instance, from coordinates or from a matrix of weights."""

    name: str = "tsp"
    header: Header = Header("problems/tsp.cuh")
    solution_kind: str = "order"
    moves: tuple[str, ...] = ("swap", "reversal", "insertion")
    solution_suffix: ClassVar[str] = ".tour"
    layout: Layout = Layout(is_tour=True)
    words: ProblemWords = ProblemWords(cost="length")
    near: Distances

    def __init__(
        self, file: TspFile, instance: str | None = None, best_known: BestKnown | None = None
    ) -> None:
        self.instance = instance or file.name
        self.size = file.dimension
        self.best_known = best_known
        self.file, self.path = file, file.path
        self.near = Distances(file)

    @classmethod
    def read(
        cls, path: Path, instance: str | None = None, best_known: BestKnown | None = None
    ) -> Tsp:
        """Return the instance in a TSPLIB file."""
        return cls(read_tsp(path), instance or str(path), best_known)

    @property
    def scale(self) -> Scale:
        """Lengths: whole numbers, or exact ones in a small unit."""
        if self.file.metric is not None:
            return super().scale
        return Scale(maximise=self.maximise, unit=math.ldexp(1.0, self.near.exponent))

    def remarks(self) -> Sequence[Remark]:
        """Return what rounding changes, unless there is a best known value of rounded lengths."""
        return [] if self.best_known is not None else remarks_on_rounding(self.near, self.file)

    def earlier(self) -> Sequence[Problem]:
        """Return the problem with rounded lengths, which all coordinates had."""
        if type(self) is not Tsp or self.file.metric is not None:
            return []
        return [Tsp(replace(self.file, metric="EUC_2D"), self.instance, self.best_known)]

    def saved(self) -> Arrays:
        """Return the rule of distances, and the coordinates or the matrix."""
        arrays: Arrays = {"metric": packed({"metric": self.file.metric})}
        if self.file.coordinates is not None:
            return arrays | {"coordinates": self.file.coordinates}
        assert self.file.matrix is not None
        return arrays | {"matrix": self.file.matrix}

    @classmethod
    def restored(
        cls, arrays: Mapping[str, NDArray[Any]], name: str, best: BestKnown | None
    ) -> Self:
        """Return the problem that was `saved` like this."""
        metric = json.loads(arrays["metric"].tobytes()).get("metric", "EUC_2D")
        if metric not in (None, *METRICS):
            raise ValueError(f"metric {shown(metric)}")  # kernels would be compiled with it
        coordinates, matrix = arrays.get("coordinates"), arrays.get("matrix")
        size = len(next(each for each in (coordinates, matrix) if each is not None))
        return cls(TspFile(name, None, size, metric, coordinates, matrix), name, best)

    def defines(self) -> Macros:
        """Return the macros that select the source of distances and their rounding."""
        return self.near.defines()

    def likeness(self) -> Hashable:
        """Return the size and the kind of distances, unless it has more than data."""
        is_plain = type(self) is Tsp and self.best_known is None
        return (self.size, *self.defines().values()) if is_plain else None

    @property
    def evaluation(self) -> Evaluation:
        """Its kernels, which read the edges that a move removes or adds."""
        return Evaluation(self, reads={"reversal": 4, "insertion": 6, "swap": 8})

    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the distance matrix if there is one, otherwise the coordinates."""
        return [self.near.array()]

    def costs(self, solutions: ArrayLike) -> NDArray[np.int64]:
        """Return the length of each row, a closed tour."""
        solutions = self._rows(solutions)
        count, n = solutions.shape
        rows = max(1, _EDGES_AT_ONCE // n)
        lengths = np.empty(count, np.int64)
        for start in range(0, count, rows):
            tours = solutions[start : start + rows]
            lengths[start : start + rows] = self.near.along(tours).sum(axis=1)
        return lengths

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
        write_tour(path, self.instance, solution, self.scale.value_of(cost))
