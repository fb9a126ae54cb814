"""What migrants brought, and where the best solution came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from islands.report.history import Floats, History, Whole

if TYPE_CHECKING:
    import pyarrow as pa

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


def _floats(table: pa.Table, name: str) -> Floats:
    import pyarrow as pa

    found: Floats = (
        table.column(name).cast(pa.float64()).combine_chunks().to_numpy(zero_copy_only=False)
    )
    return found
