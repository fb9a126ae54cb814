"""The law of times to a target, which tells what independent searches would gain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np


@dataclass(frozen=True)
class RestartLaw:
    """Times to a target that are a fixed start and an exponential rest: T = start + Exp(mean).

    Independent searches, of which the first one to arrive counts, only divide the rest.
    """

    start: float
    """Seconds that each search needs at least."""
    mean: float
    """Mean of the seconds beyond them."""

    @classmethod
    def fitted(cls, times: Sequence[float], limit: float) -> Self | None:
        """Return the law of the times of some runs, or None if fewer than two arrived.

        A run that did not arrive within the limit has an infinite time. The estimates are those of
        the largest likelihood, without its bias: the first run of n arrives mean / n after `start`.
        """
        spent = np.sort(np.minimum(times, limit))
        arrived = int(np.isfinite(times).sum())
        if arrived < 2:
            return None
        mean = float((spent - spent[0]).sum()) / (arrived - 1)
        start = float(spent[0]) - mean / len(spent)
        return cls(start, mean) if start >= 0 else cls(0.0, float(spent.sum()) / arrived)

    def gain(self, searches: int) -> float:
        """Return how much sooner the first of some independent searches arrives, in the mean."""
        return (self.start + self.mean) / (self.start + self.mean / searches)

    def distance(self, times: Sequence[float]) -> float:
        """Return the largest distance between the law and the shares of the runs, up to 1.

        It is Kolmogorov and Smirnov's, up to the last time that is finite.
        """
        arrived = np.sort([each for each in times if np.isfinite(each)])
        rest = np.maximum(0.0, arrived - self.start) / (self.mean or 1e-9)
        law, steps = 1.0 - np.exp(-rest), np.arange(len(arrived) + 1) / len(times)
        return float(np.maximum(steps[1:] - law, law - steps[:-1]).max(initial=0.0))
