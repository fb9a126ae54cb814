"""The course of a run: what each island had reached at each recorded generation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from islands.statistics.losses import percent_worse

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_MEASURES = ("best", "mean", "distance", "distinct")


@dataclass(frozen=True)
class History:
    """Tables with a row per generation and a column per island; NaN is unknown."""

    maximise: bool
    generations: Whole
    seconds: Floats
    evaluations: Floats
    """Of all islands."""
    islands: Whole
    ranks: Whole
    """The rank of each island."""
    best: Floats
    mean: Floats
    distance: Floats
    distinct: Floats

    @classmethod
    def of(cls, trace: pa.Table, *, maximise: bool) -> Self:
        """Return the history of all rows of a trace, which has at least one."""
        columns = {name: _floats(trace, name) for name in (*_MEASURES, "seconds", "evaluations")}
        generation, island = _whole(trace, "generation"), _whole(trace, "island")
        generations, row = np.unique(generation, return_inverse=True)
        islands, first, column = np.unique(island, return_index=True, return_inverse=True)
        shape = len(generations), len(islands)
        present = np.zeros(shape, bool)
        present[row, column] = True

        def table(name: str) -> Floats:
            values = np.full(shape, np.nan)
            values[row, column] = columns[name]
            return _carried_on(values, present)

        seconds = np.full(len(generations), -np.inf)
        np.maximum.at(seconds, row, columns["seconds"])
        return cls(
            maximise=maximise,
            generations=generations,
            seconds=seconds,
            evaluations=np.nansum(table("evaluations"), axis=1),
            islands=islands,
            ranks=_whole(trace, "rank")[first],
            **{name: table(name) for name in _MEASURES},
        )

    def __len__(self) -> int:
        return len(self.generations)

    def overall(self) -> Floats:
        """Return the best cost of all islands up to each generation."""
        worst = -np.inf if self.maximise else np.inf
        better = np.maximum if self.maximise else np.minimum
        best = better.reduce(np.where(np.isnan(self.best), worst, self.best), axis=1)
        reached: Floats = better.accumulate(best)
        return np.where(np.isinf(reached), np.nan, reached)

    def losses(self, values: Floats, reference: float) -> Floats:
        """Return by how many per cent costs are worse than a reference that is not 0."""
        found: Floats = percent_worse(values, reference, maximise=self.maximise)
        return found

    def thinned(self, most: int) -> History:
        """Return at most about `most` generations, evenly spaced, the first and last included."""
        if len(self) <= most:
            return self
        rows = np.unique(np.linspace(0, len(self) - 1, most).astype(np.int64))
        by_row = ("generations", "seconds", "evaluations", *_MEASURES)
        return History(
            maximise=self.maximise,
            islands=self.islands,
            ranks=self.ranks,
            **{name: getattr(self, name)[rows] for name in by_row},
        )


def sense_of(trace: pa.Table) -> bool | None:
    """Return whether costs are maximised, as the best and the worst of islands show it.

    Return None if all individuals of each island were equal.
    """
    best, worst = _floats(trace, "best"), _floats(trace, "worst")
    differing = np.flatnonzero(np.isfinite(best) & np.isfinite(worst) & (best != worst))
    return bool(best[differing[0]] > worst[differing[0]]) if differing.size else None


def _carried_on(values: Floats, present: NDArray[np.bool_]) -> Floats:
    """Fill generations without a row of an island with its previous row."""
    if present.all():
        return values
    rows = np.where(present, np.arange(len(values))[:, np.newaxis], 0)
    last = np.maximum.accumulate(rows, axis=0)
    return np.take_along_axis(values, last, axis=0)


def _floats(table: pa.Table, name: str) -> Floats:
    import pyarrow as pa

    column: Any = table.column(name).cast(pa.float64()).combine_chunks()
    found: Floats = column.to_numpy(zero_copy_only=False)
    return found


def _whole(table: pa.Table, name: str) -> Whole:
    return np.asarray(table.column(name).to_numpy(), np.int64)
