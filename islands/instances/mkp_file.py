"""An instance of the multidimensional knapsack problem, scaled to integers."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.instances.numbers import Numbers, decimals, scaled
from islands.text import counted

MOST_ITEMS = 1_000_000
MOST_CONSTRAINTS = 100_000

LARGEST = 200_000_000
"""Maximum number of weights; they take 1.6 GB."""

SUM_MAX = 2**60
"""Sums below this bound fit into 64 bits, even if they are doubled."""


@dataclass(frozen=True)
class MkpFile:
    """The content of a file: choose items for profit within the capacity of each constraint.

    All numbers are integers. The profits and the optimum are those of the file times `unit`; each
    constraint is multiplied by its own power of ten, which does not change the problem.
    """

    name: str
    path: Path | None
    profits: NDArray[np.int64]
    weights: NDArray[np.int64]
    """A row for each constraint."""
    capacities: NDArray[np.int64]
    unit: int = 1
    optimum: int | None = None
    """The best profit stated in the file, or None."""
    places: tuple[int, ...] = ()
    """Number of decimals of each constraint in the file; empty if none has any."""

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.profits)

    def shown(self, constraint: int, load: int) -> str:
        """Return a weight or capacity of a constraint exactly as in the file."""
        places = self.places[constraint] if self.places else 0
        return f"{load // 10**places}.{load % 10**places:0{places}}" if places else str(load)


class ScaledRow(NamedTuple):
    """Numbers and their sum as integers, multiplied by ten to the power of `places`."""

    whole: NDArray[np.int64]
    total: int
    places: int


def read_sizes(numbers: Numbers, *, items_first: bool) -> tuple[int, int]:
    """Return the numbers of items and constraints; allow the file all their numbers."""
    sizes_read = (
        ("the number of items", MOST_ITEMS),
        ("the number of constraints", MOST_CONSTRAINTS),
    )
    given = [numbers.whole(*each) for each in (sizes_read if items_first else reversed(sizes_read))]
    n, m = given if items_first else reversed(given)
    sizes = f"{counted(n, 'item')} and {counted(m, 'constraint')}"
    if n * m > LARGEST:
        raise numbers.error(
            f"{sizes} have {n * m} weights: at most {LARGEST} fit in memory. "
            "Correct the sizes, or leave out constraints"
        )
    numbers.allow(n * m + n + m + 1, sizes)
    return n, m


def read_row(numbers: Numbers, count: int, what: str) -> ScaledRow:
    """Return the next `count` numbers; `what` is their name in the plural."""
    return _row(numbers, numbers.take(count, what), what)


def read_values(numbers: Numbers, count: int, what: str) -> list[ScaledRow]:
    """Return the next `count` numbers as single rows."""
    return [_row(numbers, [word], what) for word in numbers.take(count, what)]


def _row(numbers: Numbers, words: list[bytes], what: str) -> ScaledRow:
    places = decimals(words)
    whole = scaled(words, places)
    _check(numbers, sum(whole), places, what)
    return ScaledRow(np.array(whole, np.int64), sum(whole), places)


def made(
    numbers: Numbers,
    name: str,
    profits: ScaledRow,
    weights: list[ScaledRow],
    capacities: list[ScaledRow],
    best: ScaledRow,
) -> MkpFile:
    """Return the instance of these numbers."""
    units, optimum = _same_scale(numbers, profits, best, "profits")
    unit, total = 10 ** max(profits.places, best.places), int(units.sum())
    if optimum > total:
        raise numbers.error(
            f"the stated best profit of {name} is {Decimal(optimum) / unit}, but the sum of all"
            f" profits is {Decimal(total) / unit}. Correct it, or write 0 if it is unknown"
        )
    decimals_of = [
        (row.places, limit.places) for row, limit in zip(weights, capacities, strict=True)
    ]
    matrix = np.empty((len(weights), len(units)), np.int64)
    limits = np.empty(len(weights), np.int64)
    for i, (row, limit) in enumerate(zip(weights, capacities, strict=True)):
        matrix[i], limits[i] = _same_scale(numbers, row, limit, f"weights of constraint {i + 1}")
    return MkpFile(
        name=name,
        path=numbers.lines.path,
        profits=units,
        weights=matrix,
        capacities=limits,
        unit=unit,
        optimum=optimum or None,
        places=tuple(max(pair) for pair in decimals_of),
    )


def _same_scale(
    numbers: Numbers, row: ScaledRow, limit: ScaledRow, what: str
) -> tuple[NDArray[np.int64], int]:
    """Return a row and the limit of its sums, scaled to the same number of decimals."""
    places = max(row.places, limit.places)
    times, limit_times = 10 ** (places - row.places), 10 ** (places - limit.places)
    _check(numbers, row.total * times, places, what)
    _check(numbers, limit.total * limit_times, places, f"limit of the {what}")
    # If all numbers are 0, the factor may exceed 64 bits.
    return row.whole * (times if row.total else 1), limit.total * limit_times


def _check(numbers: Numbers, total: int, places: int, what: str) -> None:
    if total >= SUM_MAX:
        times = f" with {places} decimals scaled away" if places else ""
        raise numbers.error(
            f"the {what}: their sum is {total}{times}, and only sums below {SUM_MAX} are exact. "
            "Divide by a common factor, or round the decimals"
        )
