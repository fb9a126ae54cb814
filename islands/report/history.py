"""The course of a run: what each island had reached, and what migrants brought."""

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


_LONGEST = 1000
"""Steps of a lineage at most."""


@dataclass(frozen=True)
class Arrivals:
    """The migrants of a run, one per element of each array, ordered by generation."""

    generation: Whole
    source: Whole
    target: Whole
    cost: Floats
    accepted: NDArray[np.bool_]
    gain: Floats
    """By how much the migrant was better than the best of its island in the previous row.

    0 unless it is the best of the migrants that arrived at its island in the same migration.
    """

    @classmethod
    def of(cls, migrations: pa.Table, history: History) -> Self:
        """Return the arrivals with their gains."""
        columns = {
            name: np.asarray(migrations.column(name).to_numpy())
            for name in ("generation", "from", "to", "accepted")
        }
        cost = _floats(migrations, "cost")
        before = _best_before(history, columns["generation"], columns["to"])
        gain = cost - before if history.maximise else before - cost
        gain = np.where(columns["accepted"] & (gain > 0), gain, 0.0)
        gain[~_greatest(gain, columns["generation"], columns["to"])] = 0.0
        order = np.argsort(columns["generation"], kind="stable")
        return cls(
            columns["generation"][order].astype(np.int64),
            columns["from"][order].astype(np.int64),
            columns["to"][order].astype(np.int64),
            cost[order],
            columns["accepted"][order].astype(bool),
            gain[order],
        )

    def __len__(self) -> int:
        return len(self.generation)

    def matrix(self, islands: Whole, values: Floats) -> Floats:
        """Return the sums of `values`, one per arrival, by receiving and sending island.

        Leave out those of other islands, whose rows may be missing or not written yet.
        """
        size = len(islands)
        known = np.isin(self.target, islands) & np.isin(self.source, islands)
        rows, columns = (
            np.searchsorted(islands, each[known]) for each in (self.target, self.source)
        )
        sums = np.bincount(rows * size + columns, weights=values[known], minlength=size * size)
        return np.asarray(sums, np.float64).reshape(size, size)


@dataclass(frozen=True)
class Step:
    """A migrant that became the best of its island."""

    generation: int
    source: int
    target: int
    cost: float
    gain: float


def lineage(arrivals: Arrivals, island: int, generation: int) -> list[Step]:
    """Return the arrivals that led to the best of an island in a generation, the first one first.

    Each is the last arrival before the next one that became the best of its island.
    """
    won = np.flatnonzero(arrivals.gain > 0)
    by_target: dict[int, NDArray[np.int64]] = {}
    targets = arrivals.target[won]
    order = np.argsort(targets, kind="stable")
    for part in np.split(won[order], np.flatnonzero(np.diff(targets[order])) + 1):
        if part.size:
            by_target[int(arrivals.target[part[0]])] = part
    steps: list[Step] = []
    latest = generation
    while len(steps) < _LONGEST and (mine := by_target.get(island)) is not None:
        mine = mine[arrivals.generation[mine] <= latest]
        if not mine.size:
            break
        taken = int(mine[-1])
        steps.append(
            Step(
                int(arrivals.generation[taken]),
                int(arrivals.source[taken]),
                island,
                float(arrivals.cost[taken]),
                float(arrivals.gain[taken]),
            )
        )
        island, latest = steps[-1].source, steps[-1].generation - 1
    return steps[::-1]


def _best_before(history: History, generation: Whole, island: Whole) -> Floats:
    """Return the best of an island in its last row before a generation; NaN if there is none."""
    row = np.searchsorted(history.generations, generation, side="left") - 1
    column = np.minimum(np.searchsorted(history.islands, island), len(history.islands) - 1)
    found: Floats = history.best[np.maximum(row, 0), column]
    return np.where((row >= 0) & (history.islands[column] == island), found, np.nan)


def _greatest(gain: Floats, generation: Whole, island: Whole) -> NDArray[np.bool_]:
    """Return which gain is the first of the greatest ones of its island and generation."""
    order = np.lexsort((-gain, island, generation))
    is_first = np.ones(len(gain), bool)
    is_first[1:] = (np.diff(generation[order]) != 0) | (np.diff(island[order]) != 0)
    found = np.zeros(len(gain), bool)
    found[order[is_first]] = True
    return found
