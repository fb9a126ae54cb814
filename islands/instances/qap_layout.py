"""Tells by the lines of a QAPLIB file where its matrices begin: costs may stand on either side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COSTS = 2
"""At most so many costs are in a file besides the matrices."""


@dataclass(frozen=True)
class Layout:
    """How the numbers that follow n lie on lines."""

    n: int
    count: int
    """How many numbers there are."""
    ends: NDArray[np.int64]
    """After how many of them lines end, in order; the end of the last line is left out."""

    def start(self, possible: list[int]) -> int | None:
        """Return after how many costs the matrices begin; None where the lines do not tell."""
        fits = [self._fit(at) for at in possible]
        best = max(fits)
        return possible[fits.index(best)] if fits.count(best) == 1 else None

    def costs_before_too_few(self) -> int:
        """Return how many costs clearly stand before matrices that lack numbers; mostly 0."""
        beyond = self.count - 2 * self.n**2
        if any(all(self._fit(at)) for at in range(beyond + 1)):
            return 0
        starts = range(max(1, beyond + 1), COSTS + 1)
        return next((at for at in starts if all(self._fit(at)) and self._is_headed(at)), 0)

    def _fit(self, at: int) -> tuple[bool, bool, bool]:
        """Return how well the lines fit matrices that begin there, what weighs most first.

        No line has a cost and a part of them; they begin on a line of their own; and they are in
        rows: each row ends a line, or each line ends a row.
        """
        end = at + 2 * self.n**2
        begin_line = bool((self.ends[: COSTS + 1] == at).any())
        end_line = end >= self.count or bool((self.ends[-COSTS:] == end).any())
        inside = self.ends[(self.ends > at) & (self.ends < min(end, self.count))] - at
        rows = int(np.count_nonzero(inside % self.n == 0))
        in_rows = rows > 0 and rows in (len(inside), (min(end, self.count) - at - 1) // self.n)
        return (at == 0 or begin_line) and end_line, begin_line, in_rows

    def _is_headed(self, at: int) -> bool:
        """Return whether so many numbers are on the line of n, and more words on the next."""
        first, second = [*self.ends[:2].tolist(), self.count, self.count][:2]
        return bool(first == at and second - first > 1 + first)
