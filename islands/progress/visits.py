"""The generations in which a device is asked for what its islands have found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Visits:
    """The generations that the host visits, each the end of an epoch and a row of the trace."""

    migration_interval: int | None
    record_every: int
    last: int | None

    def after(self, generation: int) -> int:
        """Return the next visit."""
        steps = (self.record_every, self.migration_interval)
        visits = [generation - generation % step + step for step in steps if step is not None]
        if self.last is not None and generation < self.last:
            visits.append(self.last)
        return min(visits)

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
