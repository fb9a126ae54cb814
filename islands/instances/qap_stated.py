"""What files of quadratic assignment say of the best cost known: nothing in them proves it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from islands.instances.lines import Lines, shown

_WHOLE = re.compile(rb"-?\d{1,19}")
_VALUE_MAX = 2**63 - 1


@dataclass(frozen=True)
class Stated:
    """What a file says; None stands for what it does not say, or says to be unknown."""

    best: int | None = None
    """The cost of the best assignment known."""
    optimum: int | None = None
    bound: int | None = None
    """A cost below which there is no assignment."""

    @classmethod
    def of(cls, *values: int) -> Self:
        """Return what is meant by no value, by the best known one, or by the optimum and that one.

        What is not known is written as 0 or below 0, where it may be the lower bound.
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
        """The best cost that the file gives."""
        return self.optimum if self.best is None else self.best

    def words(self) -> str:
        """Return what is said, such as `best known 578, lower bound 493`, or nothing."""
        if self.value == 0:
            return "best known 0, which may stand for an unknown one"
        best = None if self.best == self.optimum else self.best
        said = {"optimum": self.optimum, "best known": best, "lower bound": self.bound}
        return ", ".join(f"{key} {value}" for key, value in said.items() if value is not None)


NOTHING = Stated()


def is_value(word: bytes) -> bool:
    """Return whether a word can be a value, which may be below 0."""
    return _WHOLE.fullmatch(word) is not None and abs(int(word)) <= _VALUE_MAX


def read_value(lines: Lines, word: bytes) -> int:
    """Return a value of the line read last."""
    if not is_value(word):
        raise lines.error(
            f"{shown(word)} is not a whole number from {-_VALUE_MAX} to {_VALUE_MAX}, as the cost"
            " of an assignment has to be. Correct it, or remove it if it is none"
        )
    return int(word)
