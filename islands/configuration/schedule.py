"""The generations that the host visits: they depend on the settings only, not on time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from islands.configuration.spec import RunSpec
from islands.configuration.stop import last_generation
from islands.migration import migrates


@dataclass(frozen=True)
class EpochSchedule:
    """The generations at which epochs end; each end is a row of the trace."""

    migration_interval: int | None
    record_every: int
    last: int | None

    @classmethod
    def of(cls, spec: RunSpec) -> EpochSchedule:
        """Return the schedule of a run."""
        has_migration = migrates(spec.migration, spec.general.islands)
        return cls(
            migration_interval=spec.migration.interval if has_migration else None,
            record_every=spec.record.every,
            last=last_generation(spec.stop),
        )

    def next_visit(self, generation: int, unrecorded: int = 0) -> int:
        """Return the first generation after this one at which an epoch ends.

        Epochs do not end for a row of the trace up to the generation `unrecorded`.
        """
        steps = [(self.record_every, max(generation, unrecorded))]
        if self.migration_interval is not None:
            steps.append((self.migration_interval, generation))
        visits = [after - after % step + step for step, after in steps]
        if self.last is not None and generation < self.last:
            visits.append(self.last)
        return min(visits)

    def visits(self, generation: Any) -> Any:
        """Return whether an epoch ends at this generation, or at each generation of an array."""
        ends = generation % self.record_every == 0
        if self.migration_interval is not None:
            ends |= generation % self.migration_interval == 0
        if self.last is not None:
            ends |= generation == self.last
        return ends

    def migrates(self, generation: int) -> bool:
        """Return whether islands exchange migrants after this generation."""
        return self.migration_interval is not None and generation % self.migration_interval == 0
