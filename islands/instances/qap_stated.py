"""The best known cost that a QAP file states, without proof."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from islands.instances.lines import Lines, shown

_WHOLE = re.compile(rb"-?\d{1,19}")
_VALUE_MAX = 2**63 - 1


@dataclass(frozen=True)
class StatedCosts:
    """The stated values; None for a value that is missing or stated as unknown."""

    best: int | None = None
    """The cost of the best assignment known."""
    optimum: int | None = None
    bound: int | None = None
    """A lower bound of the cost."""

    @classmethod
    def of(cls, *values: int) -> Self:
        """Interpret no value, the best known one, or the optimum and the best known one.

        An unknown value is written as 0 or as a negative number, which may be the lower bound.
        """
        if not values:
            return cls()
        *optima, best = values
        if not optima:
            return cls(best if best >= 0 else None, bound=-best if best < -1 else None)
        (optimum,) = optima
        is_known = optimum > 0 or (optimum == 0 and best == 0)
        return cls(
            best if best > 0 or (best == 0 and optimum == 0) else None,
            optimum if is_known else None,
            -optimum if optimum < -1 else None,
        )

    @property
    def value(self) -> int | None:
        """The best stated cost."""
        return self.optimum if self.best is None else self.best

    def words(self) -> str:
        """Return the values as text, such as `best known 578, lower bound 493`, or empty."""
        if self.value == 0:
            return "best known 0, which may mean unknown"
        best = None if self.best == self.optimum else self.best
        values = {"optimum": self.optimum, "best known": best, "lower bound": self.bound}
        return ", ".join(f"{key} {value}" for key, value in values.items() if value is not None)


NOTHING = StatedCosts()


def is_value(word: bytes) -> bool:
    """Return whether a word can be a value, possibly negative."""
    return _WHOLE.fullmatch(word) is not None and abs(int(word)) <= _VALUE_MAX


def read_value(lines: Lines, word: bytes) -> int:
    """Return a value on the current line."""
    if not is_value(word):
        raise lines.error(
            f"{shown(word)} is not a whole number from {-_VALUE_MAX} to {_VALUE_MAX}, as the cost"
            " of an assignment must be. Correct it, or remove it if it is no cost"
        )
    return int(word)
