"""The generations after which the host inspects its islands."""

from dataclasses import dataclass
from typing import Any

import numpy as np

_NEVER = 1 << 62
"""A generation that no run reaches; the sum of two such numbers fits into 64 bits."""


@dataclass(frozen=True)
class Visits:
    """The generations that the host visits: the ends of epochs, each with a row of the trace."""

    migration_interval: int | None
    record_every: int
    last: int | None

    def after(self, generation: Any) -> Any:
        """Return the visit after this generation, or after each generation of an array."""
        earlier = np.minimum if isinstance(generation, np.ndarray) else min
        visit = generation - generation % self.record_every + self.record_every
        if (interval := self.migration_interval) is not None:
            visit = earlier(visit, generation - generation % interval + interval)
        if self.last is not None:
            last = min(self.last, _NEVER)
            visit = earlier(visit, last + (generation >= last) * (_NEVER - 1))
        return visit

    def include(self, generation: Any) -> Any:
        """Return whether the host visits this generation, or each generation of an array."""
        ends = generation % self.record_every == 0
        if self.migration_interval is not None:
            ends |= generation % self.migration_interval == 0
        if self.last is not None:
            ends |= generation == self.last
        return ends

    def migrate(self, generation: int) -> bool:
        """Return whether islands exchange migrants after this generation."""
        return self.migration_interval is not None and generation % self.migration_interval == 0
