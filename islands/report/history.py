"""The course of a run: the costs of its islands, and the gains from migrants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from islands.statistics import percent_worse

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_MEASURES = ("best", "best_generation", "mean", "distance", "distinct")
_LONGEST = 1000
"""Maximum number of steps of a lineage."""


@dataclass(frozen=True)
class History:
    """Tables with a row per generation and a column per island; unknown values are NaN."""

    maximise: bool
    generations: Whole
    seconds: Floats
    evaluations: Floats
    """The evaluations of all islands."""
    islands: Whole
    ranks: Whole
    """The rank of each island."""
    best: Floats
    best_generation: Floats
    """The generation in which the best of an island was found."""
    mean: Floats
    distance: Floats
    distinct: Floats

    @classmethod
    def of(cls, trace: pa.Table, *, maximise: bool) -> Self:
        """Return the history of all rows of a trace, which has at least one row."""
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
            return _filled(values, present)

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
        best = better.accumulate(best)
        return np.where(np.isinf(best), np.nan, best)

    def changes(self, over: Floats, column: int | None = None) -> tuple[Floats, Floats]:
        """Return where the best cost of an island, or of all islands, changes, and the new costs.

        `over` has the axis position of each generation with rows. A cost is at the position of the
        generation that found it, perhaps between two rows. The last cost is repeated at the end.
        """
        if column is None:
            best = self.overall()
            is_best = self.best == best[:, np.newaxis]
            generation = np.where(is_best, self.best_generation, np.inf).min(axis=1)
        else:
            best, generation = self.best[:, column], self.best_generation[:, column]
        rows = np.flatnonzero((np.diff(best, prepend=np.nan) != 0) & np.isfinite(best))
        previous = self.generations[np.maximum(rows - 1, 0)]
        changed = np.clip(generation[rows], previous, self.generations[rows])
        at = np.interp(changed, self.generations, over)
        return np.append(at, over[-1]), np.append(best[rows], best[-1])

    def found_best(self) -> tuple[int, int]:
        """Return the island that reached the best cost first, and the generation."""
        sign = -1 if self.maximise else 1
        best = np.where(np.isnan(self.best), np.inf, sign * self.best)
        row, column = np.unravel_index(np.argmin(best), best.shape)
        return int(self.islands[column]), int(self.generations[row])

    def rank_of(self, island: int) -> int | None:
        """Return the rank of an island; None for one without rows."""
        ranks = self.ranks[self.islands == island]
        return int(ranks[0]) if ranks.size else None

    def placed(self, island: int) -> str:
        """Return an island and its rank as text."""
        rank = self.rank_of(island)
        return f"{island} (rank {'?' if rank is None else rank})"

    def losses(self, values: Floats, reference: float) -> Floats:
        """Return how much worse costs are than a nonzero reference, in per cent."""
        return np.asarray(percent_worse(values, reference, maximise=self.maximise))

    def thinned(self, most: int, *, early: bool = False) -> History:
        """Return at most about `most` generations, including the first and last.

        They are evenly spaced; with `early`, half of them are on a logarithmic scale.
        """
        if len(self) <= most:
            return self
        last = len(self) - 1
        places = np.linspace(0, last, most)
        if early:
            half = most // 2
            places = np.append(np.linspace(0, last, most - half), np.geomspace(1, last, half))
        rows = np.unique(places.astype(np.int64))
        by_row = ("generations", "seconds", "evaluations", *_MEASURES)
        return replace(self, **{name: getattr(self, name)[rows] for name in by_row})


def sense_of(trace: pa.Table) -> bool | None:
    """Return whether costs are maximised, inferred from the best and worst costs of islands.

    Return None if all individuals of each island were equal.
    """
    best, worst = _floats(trace, "best"), _floats(trace, "worst")
    differing = np.flatnonzero(np.isfinite(best) & np.isfinite(worst) & (best != worst))
    return bool(best[differing[0]] > worst[differing[0]]) if differing.size else None


def _filled(values: Floats, present: NDArray[np.bool_]) -> Floats:
    """Repeat an island's previous row in generations in which it has none."""
    if present.all():
        return values
    rows = np.where(present, np.arange(len(values))[:, np.newaxis], 0)
    last = np.maximum.accumulate(rows, axis=0)
    return np.take_along_axis(values, last, axis=0)


def _floats(table: pa.Table, name: str) -> Floats:
    import pyarrow as pa

    column: Any = table.column(name).cast(pa.float64()).combine_chunks()
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _whole(table: pa.Table, name: str) -> Whole:
    return np.asarray(table.column(name).to_numpy(), np.int64)


@dataclass(frozen=True)
class Migrants:
    """The migrants that arrived in a run, one per element of each array, ordered by generation."""

    generation: Whole
    source: Whole
    target: Whole
    cost: Floats
    accepted: NDArray[np.bool_]
    gain: Floats
    """How much better the migrant was than the best cost of the island in the previous row.

    It is 0 if a better migrant arrived at the island in the same migration.
    """

    @classmethod
    def of(cls, migrations: pa.Table, history: History) -> Self:
        """Return the migrants with their gains."""
        order = np.argsort(_whole(migrations, "generation"), kind="stable")
        names = ("generation", "from", "to")
        generation, source, target = (_whole(migrations, name)[order] for name in names)
        accepted = migrations.column("accepted").to_numpy().astype(bool)[order]
        cost = _floats(migrations, "cost")[order]
        before = _best_before(history, generation, target)
        gain = cost - before if history.maximise else before - cost
        gain = np.where(accepted & (gain > 0), gain, 0.0)
        gain[~_greatest(gain, generation, target)] = 0.0
        return cls(generation, source, target, cost, accepted, gain)

    def __len__(self) -> int:
        return len(self.generation)

    def matrix(self, islands: Whole, values: Floats) -> Floats:
        """Return the sums of `values`, one per migrant, by receiving and sending island.

        Leave out migrants of other islands, whose rows may be missing or not written yet.
        """
        size = len(islands)
        known = np.isin(self.target, islands) & np.isin(self.source, islands)
        rows = np.searchsorted(islands, self.target[known])
        columns = np.searchsorted(islands, self.source[known])
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


@dataclass(frozen=True)
class Lineage:
    """The steps that led to the best solution of an island in a generation, oldest first."""

    island: int
    generation: int
    steps: list[Step]

    @classmethod
    def of(cls, migrants: Migrants, island: int, generation: int) -> Self:
        """Return the lineage that ends with the best solution of an island in a generation.

        It is followed backwards: the last migrant that became the best of the island came from
        another island, whose best came from a third island, and so on.
        """
        won = np.flatnonzero(migrants.gain > 0)
        won = won[np.argsort(migrants.target[won], kind="stable")]
        targets, generations = migrants.target[won], migrants.generation[won]
        steps: list[Step] = []
        receiver, latest = island, generation
        while len(steps) < _LONGEST:
            first, end = np.searchsorted(targets, [receiver, receiver + 1])
            place = first + np.searchsorted(generations[first:end], latest, side="right") - 1
            if place < first:
                break
            names = ("generation", "source", "target", "cost", "gain")
            step = Step(*(getattr(migrants, name)[won[place]].item() for name in names))
            steps.append(step)
            receiver, latest = step.source, step.generation - 1
        return cls(island, generation, steps[::-1])


def _best_before(history: History, generation: Whole, island: Whole) -> Floats:
    """Return the best cost of an island in its last row before a generation; NaN without one."""
    row = np.searchsorted(history.generations, generation, side="left") - 1
    column = np.minimum(np.searchsorted(history.islands, island), len(history.islands) - 1)
    is_known = (row >= 0) & (history.islands[column] == island)
    return np.where(is_known, history.best[np.maximum(row, 0), column], np.nan)


def _greatest(gain: Floats, generation: Whole, island: Whole) -> NDArray[np.bool_]:
    """Return a mask of the largest gain per island and generation; of equal gains, the first."""
    order = np.lexsort((-gain, island, generation))
    is_first = np.ones(len(gain), bool)
    is_first[1:] = (np.diff(generation[order]) != 0) | (np.diff(island[order]) != 0)
    mask = np.zeros(len(gain), bool)
    mask[order[is_first]] = True
    return mask
