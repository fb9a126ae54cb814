"""The travelling salesman problem: find the shortest closed tour through all cities.

Files have integer lengths by the TSPLIB rules. Coordinates from arrays have exact lengths unless
`metric` is such a rule.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands import settings as named
from islands.backends.source import Header, Macros
from islands.errors import RunError
from islands.instances.catalogue import BestKnown
from islands.instances.solution_files import Remark
from islands.instances.tsplib import (
    METRICS,
    TspFile,
    read_facts,
    read_tour,
    read_tsp,
    tour_fault,
    write_tour,
)
from islands.problems.arrays import Arrays, packed
from islands.problems.base import Problem, Solution
from islands.problems.capabilities import Layout, ProblemWords
from islands.problems.distances import Distances
from islands.problems.evaluation import Evaluation
from islands.problems.geojson import geojson_of
from islands.problems.legs import PRICE, Legs, is_plain
from islands.problems.rounding import remarks_on_rounding
from islands.problems.routes import (
    edges_texts,
    ends_of,
    ends_text,
    parsed_edges,
    parsed_ends,
)
from islands.problems.scale import Scale
from islands.text import shown

_EDGES_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class TspSettings(named.Settings):
    """Requirements of a tour, which files and `islands.tsp` may also state."""

    ends: str = named.setting(
        "",
        "the first and the last city of a path, counted from 0, such as 0:7; 'any' stands for any"
        " city, as in 0:any; empty: as in the instance, by default a closed tour",
    )
    fixed: str = named.setting(
        "", "edges that the tour must have, such as 3-5,8-2; from the first city to the second one"
    )


class Tsp(Problem):
    """An instance from coordinates or a matrix of lengths, which may be asymmetric."""

    name: str = "tsp"
    header: Header = Header("problems/tsp.cuh")
    solution_kind: str = "order"
    moves: tuple[str, ...] = ("swap", "reversal", "insertion")
    solution_suffix: ClassVar[str] = ".tour"
    layout: Layout = Layout(is_tour=True)
    words: ProblemWords = ProblemWords(cost="length")
    Settings: ClassVar[type[named.Settings]] = TspSettings
    near: Distances
    settings: TspSettings

    def __init__(
        self, file: TspFile, instance: str | None = None, best_known: BestKnown | None = None
    ) -> None:
        self.instance = instance or file.name
        self.best_known = best_known
        self.file, self.path = file, file.path
        self.settings = TspSettings()
        self.near = Distances(file) if is_plain(file) else Legs(file)
        price = PRICE if isinstance(self.near, Legs) else None
        self._scale = Scale(maximise=self.maximise, unit=self.near.unit, first_infeasible=price)
        self.size = self.near.size
        if isinstance(self.near, Legs):
            chains = self.near.chains
            self.layout = Layout(
                is_tour=True, to_device=chains.to_items, from_device=chains.from_items
            )

    @classmethod
    def read(
        cls, path: Path, instance: str | None = None, best_known: BestKnown | None = None
    ) -> Tsp:
        """Return the instance in a TSPLIB file."""
        return cls(read_tsp(path), instance or str(path), best_known)

    @property
    def entries(self) -> int:
        """The number of cities."""
        return self.file.dimension

    @property
    def scale(self) -> Scale:
        """The scale of lengths: whole numbers, or exact lengths in a small unit."""
        return self._scale

    def adjusted(self, settings: named.Settings) -> Self:
        """Return the same instance with the ends and fixed edges of these settings."""
        if settings == self.settings:
            return self
        assert isinstance(settings, TspSettings)
        ends = parsed_ends(settings.ends) if settings.ends else self.file.ends
        fixed = parsed_edges(settings.fixed) if settings.fixed else self.file.fixed
        file = replace(self.file, ends=ends, fixed=fixed)
        is_same = (ends, fixed) == (self.file.ends, self.file.fixed)
        adjusted = copy(self)
        Tsp.__init__(adjusted, file, self.instance, self.best_known if is_same else None)
        adjusted.settings = settings
        return adjusted

    def remarks(self) -> Sequence[Remark]:
        """Return remarks about legs, or the effect of rounding if there is no best known value."""
        if isinstance(self.near, Legs):
            return self.near.remarks()
        return [] if self.best_known is not None else remarks_on_rounding(self.near, self.file)

    def as_solved(self, settings: Mapping[str, Any]) -> Problem:
        """Return the problem with the ends and fixed edges of these settings."""
        stated = {name: settings[name] for name in TspSettings.names() if name in settings}
        return self.adjusted(TspSettings.build(stated))

    def geojson(self, solution: ArrayLike) -> dict[str, Any]:
        """Return a tour as GeoJSON: its line, and a point for each stop."""
        return geojson_of(self.file, np.asarray(solution), self.cost(solution))

    def saved(self) -> Arrays:
        """Return the distance rule, the coordinates or the matrix, and the ends and fixed edges."""
        file = self.file
        facts: dict[str, Any] = {"metric": file.metric}
        others = {"unit": file.unit, "ends": file.ends, "fixed": file.fixed, "labels": file.labels}
        defaults = {"unit": 1, "ends": None, "fixed": (), "labels": None}
        facts |= {name: value for name, value in others.items() if value != defaults[name]}
        arrays = {key: getattr(file, key) for key in ("coordinates", "matrix", "places")}
        return {"metric": packed(facts)} | {k: v for k, v in arrays.items() if v is not None}

    @classmethod
    def restored(
        cls, arrays: Mapping[str, NDArray[Any]], name: str, best: BestKnown | None
    ) -> Self:
        """Return the problem from the arrays of `saved`."""
        facts = json.loads(arrays["metric"].tobytes())
        metric = facts.get("metric", "EUC_2D")
        if metric not in (None, *METRICS):
            raise ValueError(f"metric {shown(metric)}")  # kernels would be compiled with it
        coordinates, matrix = arrays.get("coordinates"), arrays.get("matrix")
        size = len(next(array for array in (coordinates, matrix) if array is not None))
        file = TspFile(
            name,
            path=None,
            dimension=size,
            metric=metric,
            coordinates=coordinates,
            matrix=matrix,
            unit=facts.get("unit", 1),
            ends=ends_of(*facts["ends"]) if facts.get("ends") else None,
            fixed=tuple((int(a), int(b)) for a, b in facts.get("fixed", ())),
            labels=tuple(map(str, facts["labels"])) if facts.get("labels") else None,
            places=arrays.get("places"),
        )
        return cls(file, name, best)

    def defines(self) -> Macros:
        """Return the macros that select the source of distances and their rounding."""
        return self.near.defines()

    def launch_key(self) -> Hashable:
        """Return the size and kind of distances; None for subclasses or with a best known value."""
        is_plain = type(self) is Tsp and self.best_known is None
        return (self.size, self.near.is_directed, *self.defines().values()) if is_plain else None

    @property
    def evaluation(self) -> Evaluation:
        """Evaluation by kernels, which read the edges that a move removes or adds."""
        reversal = 2 * self.size if isinstance(self.near, Legs) else 4
        return Evaluation(self, reads={"reversal": reversal, "insertion": 6, "swap": 8})

    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the distance matrix if there is one, otherwise the coordinates."""
        return [self.near.array()]

    def costs(self, solutions: ArrayLike) -> NDArray[np.int64]:
        """Return the length of the tour in each row; a forbidden leg costs `PRICE`."""
        solutions = self._rows(solutions)
        count, n = solutions.shape
        rows = max(1, _EDGES_AT_ONCE // n)
        lengths = np.empty(count, np.int64)
        for start in range(0, count, rows):
            tours = solutions[start : start + rows]
            lengths[start : start + rows] = self.near.along(tours).sum(axis=1)
        return lengths

    def check(self, solution: Solution) -> None:
        """Raise a `RunError` if `solution` is not a tour with the required ends and edges."""
        fault = tour_fault(solution, self.entries)
        if fault is not None:
            raise RunError(f"not a tour of {self.instance}: {fault}. Each city must appear once")
        if faults := self._faults(solution):
            raise RunError(
                f"not a tour of {self.instance}: {faults[0]}, counted from 0. Correct it"
            )

    def violation(self, solution: Solution) -> float:
        """Return the number of forbidden legs, missing fixed edges and wrong ends."""
        return len(self._faults(solution))

    def _faults(self, solution: Solution) -> list[str]:
        return self.near.faults(solution) if isinstance(self.near, Legs) else []

    def read_solution(self, path: Path) -> Solution:
        """Return the tour in a `.tour` file, a JSON file or a run's folder."""
        return read_tour(path, self.entries)

    def settings_in(self, path: Path) -> Mapping[str, Any]:
        """Return the ends and fixed edges stated in a `.tour` file."""
        return read_facts(path, self.entries, TspSettings.names())

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        """Write a TSPLIB tour; comments state the ends and fixed edges."""
        facts: list[tuple[str, str]] = []
        if self.file.ends is not None:
            facts.append(("ends", ends_text(self.file.ends)))
        facts += [("fixed", text) for text in edges_texts(self.file.fixed)]
        write_tour(path, self.instance, solution, self.scale.value_of(cost), facts)
