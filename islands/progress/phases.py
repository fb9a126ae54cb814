"""The time of one rank by phase."""

from __future__ import annotations

import time

GENERATIONS, MIGRATION, RANKS = "generations", "migration", "other ranks"
RECORDS, CHECKPOINTS, CALLBACK = "records", "checkpoints", "callback"
PHASES = (GENERATIONS, MIGRATION, RANKS, RECORDS, CHECKPOINTS, CALLBACK)


class Phases:
    """A stopwatch that is cheap enough for every epoch: each lap ends a phase.

    It measures the host, which waits for a GPU only when it needs a result: a phase with such a
    result includes the generations before it.
    """

    def __init__(self) -> None:
        """Begin the first lap."""
        self.seconds = dict.fromkeys(PHASES, 0.0)
        self._began = time.perf_counter()

    def lap(self, phase: str) -> None:
        """Add the time since the previous lap to a phase."""
        now = time.perf_counter()
        self.seconds[phase] += now - self._began
        self._began = now
