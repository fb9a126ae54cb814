"""Find the matrices of a QAPLIB file by its lines, as costs may precede or follow them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

COSTS = 2
"""Maximum number of costs in a file."""


@dataclass(frozen=True)
class QapLayout:
    """The distribution of the numbers after n over lines."""

    n: int
    count: int
    """Count of numbers."""
    ends: NDArray[np.int64]
    """Count of numbers before each line end, without the last line."""

    def start(self, possible: list[int]) -> int | None:
        """Return the number of costs before the matrices; None if the lines do not decide."""
        fits = [self._fit(at) for at in possible]
        best = max(fits)
        return possible[fits.index(best)] if fits.count(best) == 1 else None

    def costs_before_too_few(self) -> int:
        """Return the number of costs that clearly precede incomplete matrices; mostly 0."""
        beyond = self.count - 2 * self.n**2
        if any(all(self._fit(at)) for at in range(beyond + 1)):
            return 0
        starts = range(max(1, beyond + 1), COSTS + 1)
        return next((at for at in starts if all(self._fit(at)) and self._is_headed(at)), 0)

    def _fit(self, at: int) -> tuple[bool, bool, bool]:
        """Return how well the lines fit matrices that begin at `at`, by decreasing weight.

        No line contains both costs and matrix entries; the matrices begin on a new line; and they
        are in rows: each row ends a line, or each line ends a row.
        """
        end = at + 2 * self.n**2
        begin_line = bool((self.ends[: COSTS + 1] == at).any())
        end_line = end >= self.count or bool((self.ends[-COSTS:] == end).any())
        inside = self.ends[(self.ends > at) & (self.ends < min(end, self.count))] - at
        rows = int(np.count_nonzero(inside % self.n == 0))
        in_rows = rows > 0 and rows in (len(inside), (min(end, self.count) - at - 1) // self.n)
        return (at == 0 or begin_line) and end_line, begin_line, in_rows

    def _is_headed(self, at: int) -> bool:
        """Return whether `at` numbers follow n on its line, and the next line has more."""
        first, second = [*self.ends[:2].tolist(), self.count, self.count][:2]
        return bool(first == at and second - first > 1 + first)
