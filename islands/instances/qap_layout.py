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

    def start(self, possible: list[int]) -> list[int]:
        """Return the number of costs before the matrices; several if the lines do not decide.

        The lines decide if no sign of another reading contradicts them, and if they are not merely
        wrapped: then a first entry on the line of n looks like a cost.
        """
        fits = {at: self._fit(at) for at in possible}
        best = max(possible, key=fits.__getitem__)
        is_clear = self.n > 1 and not (best > 0 and self._is_wrapped(best))
        others = [
            at
            for at in possible
            if at != best and (not is_clear or not _dominates(fits[best], fits[at]))
        ]
        return [best, *others]

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
        return (at == 0 or begin_line) and end_line, begin_line, self._in_rows(at)

    def _inside(self, at: int) -> NDArray[np.int64]:
        """Return the line ends inside matrices that begin at `at`, counted from there."""
        end = min(at + 2 * self.n**2, self.count)
        return self.ends[(self.ends > at) & (self.ends < end)] - at

    def _in_rows(self, at: int) -> bool:
        inside, end = self._inside(at), min(at + 2 * self.n**2, self.count)
        rows = int(np.count_nonzero(inside % self.n == 0))
        return rows > 0 and rows in (len(inside), (end - at - 1) // self.n)

    def has_rows(self, at: int) -> bool:
        """Return whether all signs are there, and each line end is the end of a row.

        With two items, this may be chance.
        """
        is_of_rows = not (self._inside(at) % self.n).any()
        return self.n > COSTS and is_of_rows and all(self._fit(at))

    def _is_wrapped(self, at: int) -> bool:
        """Return whether lines end anywhere, or all after the same number of words as that of n."""
        inside = self._inside(at)
        if not (inside % self.n).any():
            return False
        words = np.diff(self.ends, prepend=-1)  # n is the first word
        return not self._in_rows(at) or bool((words == words[0]).all())

    def _is_headed(self, at: int) -> bool:
        """Return whether `at` numbers follow n on its line, and the next line has more."""
        first, second = [*self.ends[:2].tolist(), self.count, self.count][:2]
        return bool(first == at and second - first > 1 + first)


def _dominates(one: tuple[bool, ...], other: tuple[bool, ...]) -> bool:
    """Return whether each sign that speaks for the other speaks for this one, and more do."""
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))
