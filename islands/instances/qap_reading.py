"""The readings of a QAP file that has more numbers than its matrices: which of them are costs.

A wrong reading shifts both matrices by one. So the lines decide only if no other reading fits as
well, by the lines or because only its cost is one that assignments of its matrices can have.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from islands.instances.qap_stated import StatedCosts

_MOST_SORTED = 1000
"""Maximum n for which the costs that are possible are bounded."""
_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Reading:
    """A file of which `costs` come before and after the matrices, in this order."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    a: NDArray[np.int64]
    b: NDArray[np.int64]

    @classmethod
    def of(cls, numbers: array[int], n: int, start: int) -> Reading:
        """Return the reading whose matrices begin at `start`."""
        end = start + 2 * n * n
        a, b = np.frombuffer(numbers, np.int64)[start:end].reshape(2, n, n)
        return cls(tuple(numbers[:start]), tuple(numbers[end:]), a, b)

    @property
    def is_valid(self) -> bool:
        """Whether costs are where they may be; a cost in both places must be the same."""
        if self.before and self.after:
            return self.before == self.after
        return len(self.after) <= 1

    @property
    def stated(self) -> StatedCosts:
        """The stated costs of a valid reading."""
        return StatedCosts.of(*(self.before or self.after))

    def has_possible_cost(self) -> bool:
        """Return whether it states a cost that an assignment may have, and not that it is unknown.

        No order of the second matrix gives a smaller sum of products than the opposite order of the
        first, or a larger one than the same order.
        """
        if not self.is_valid or len(self.a) > _MOST_SORTED or not (value := self.stated.value):
            return False
        one, other = (np.sort(each, axis=None).astype(np.float64) for each in (self.a, self.b))
        tolerance = 1e-9 * float(value)
        return bool(one @ other[::-1] - tolerance <= value <= one @ other + tolerance)

    def words(self) -> str:
        """Return the reading as text."""
        first = " ".join(map(str, self.a.reshape(-1)[:_SHOWN].tolist()))
        more = " ..." if self.a.size > _SHOWN else ""
        parts = [f"{_costs(self.before)} before A = {first}{more}"] if self.before else []
        if self.after:
            begin = "" if parts else f"A = {first}{more} and "
            parts.append(f"{begin}{_costs(self.after)} after B")
        return " and ".join(parts)


def fitting(by_lines: Sequence[Reading], others: Sequence[Reading]) -> list[Reading]:
    """Return the best reading by the lines, and those that fit as well.

    The lines do not rule out any of the first list, the best of which is its first, and only make
    the `others` unlikely. The costs are a second sign, which must not contradict them.
    """
    best = next((each for each in by_lines if each.is_valid), by_lines[0])
    alike = [each for each in by_lines if each is not best]
    if best.has_possible_cost():
        return [best, *filter(Reading.has_possible_cost, alike)]
    return [best, *alike, *filter(Reading.has_possible_cost, others if best.is_valid else ())]


def _costs(costs: tuple[int, ...]) -> str:
    noun = "costs" if costs[1:] else "cost"
    return f"the {noun} {' and '.join(map(str, costs))}"
