"""An instance of the multidimensional knapsack problem, as a file gives it, in whole numbers."""

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
"""More weights than this are refused: they alone would take more than 1.6 GB."""

SUM_MAX = 2**60
"""Below it, sums and what they are compared with fit into 64 bits, doubled too."""


@dataclass(frozen=True)
class MkpFile:
    """What a file says: choose items for profit, with no constraint's weight above its capacity.

    Decimals are scaled away. The profits and the optimum are `unit` times what the file says; each
    constraint is multiplied by a power of ten of its own, which changes nothing.
    """

    name: str
    path: Path | None
    profits: NDArray[np.int64]
    weights: NDArray[np.int64]
    """A row for each constraint."""
    capacities: NDArray[np.int64]
    unit: int = 1
    optimum: int | None = None
    """What the file gives as the best profit, if anything."""
    places: tuple[int, ...] = ()
    """How many decimals each constraint has in the file; none has any where this is empty."""

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.profits)

    def shown(self, constraint: int, load: int) -> str:
        """Return a weight or a capacity of a constraint as the file would write it, exactly."""
        places = self.places[constraint] if self.places else 0
        return f"{load // 10**places}.{load % 10**places:0{places}}" if places else str(load)


class Row(NamedTuple):
    """Numbers that are sums' parts: whole ones, once multiplied by ten to the power of `places`."""

    whole: NDArray[np.int64]
    total: int
    places: int


def read_sizes(numbers: Numbers, *, items_first: bool) -> tuple[int, int]:
    """Return how many items and constraints there are, and let the file go on for all of them."""
    asked = (("the number of items", MOST_ITEMS), ("the number of constraints", MOST_CONSTRAINTS))
    given = [numbers.whole(*each) for each in (asked if items_first else reversed(asked))]
    n, m = given if items_first else reversed(given)
    sizes = f"{counted(n, 'item')} and {counted(m, 'constraint')}"
    if n * m > LARGEST:
        raise numbers.error(
            f"{sizes} have {n * m} weights: at most {LARGEST} fit in memory. "
            "Correct the sizes, or leave out constraints"
        )
    numbers.allow(n * m + n + m + 1, sizes)
    return n, m


def read_row(numbers: Numbers, count: int, what: str) -> Row:
    """Return the next numbers; `what` they are called in the plural."""
    return _row(numbers, numbers.take(count, what), what)


def read_values(numbers: Numbers, count: int, what: str) -> list[Row]:
    """Return the next numbers, each by itself."""
    return [_row(numbers, [word], what) for word in numbers.take(count, what)]


def _row(numbers: Numbers, words: list[bytes], what: str) -> Row:
    places = decimals(words)
    whole = scaled(words, places)
    _check(numbers, sum(whole), places, what)
    return Row(np.array(whole, np.int64), sum(whole), places)


def made(
    numbers: Numbers, name: str, profits: Row, weights: list[Row], capacities: list[Row], best: Row
) -> MkpFile:
    """Return the instance of these numbers."""
    units, optimum = _together(numbers, profits, best, "profits")
    unit, total = 10 ** max(profits.places, best.places), int(units.sum())
    if optimum > total:
        raise numbers.error(
            f"the best profit of {name} is said to be {Decimal(optimum) / unit}, but all profits"
            f" come to {Decimal(total) / unit}. Correct it, or write 0 where it is unknown"
        )
    decimals_of = [
        (row.places, limit.places) for row, limit in zip(weights, capacities, strict=True)
    ]
    matrix = np.empty((len(weights), len(units)), np.int64)
    limits = np.empty(len(weights), np.int64)
    for i, (row, limit) in enumerate(zip(weights, capacities, strict=True)):
        matrix[i], limits[i] = _together(numbers, row, limit, f"weights of constraint {i + 1}")
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


def _together(numbers: Numbers, row: Row, beside: Row, what: str) -> tuple[NDArray[np.int64], int]:
    """Return a row and the value that its sums are compared with, with as many decimals."""
    places = max(row.places, beside.places)
    times, times_beside = 10 ** (places - row.places), 10 ** (places - beside.places)
    _check(numbers, row.total * times, places, what)
    _check(numbers, beside.total * times_beside, places, f"value beside the {what}")
    # Where all are 0, the factor may be more than 64 bits hold.
    return row.whole * (times if row.total else 1), beside.total * times_beside


def _check(numbers: Numbers, total: int, places: int, what: str) -> None:
    if total >= SUM_MAX:
        times = f" with {places} decimals scaled away" if places else ""
        raise numbers.error(
            f"the {what}: {total} in all{times}, and only less than {SUM_MAX} is computed exactly. "
            "Divide by a common factor, or round the decimals"
        )
