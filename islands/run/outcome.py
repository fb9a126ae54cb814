"""How a run ends: the reasons to stop, and the state that remains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from islands.progress.progress import Moment, Progress
from islands.progress.tally import StopRequests
from islands.run.pace import counts_at
from islands.run.signals import INTERRUPT, suspension
from islands.spec.spec import RunSpec
from islands.spec.stop import first_reason, is_spent, time_limit
from islands.text import counted

INTERRUPTED = "interrupted by a signal"
"""The reason of a run that SIGINT ended."""


@dataclass(frozen=True)
class Outcome:
    """How the loop of a run ended."""

    progress: Progress
    reason: str
    moment: Moment
    interrupted: bool = False
    suspended: bool = False
    """Whether the run is to be resumed later."""
    is_partial: bool = False
    """Whether generation 0 is incomplete, so that there is nothing to resume from."""
    given_up_seconds: float = 0.0
    """Seconds spent on abandoned generations."""
    phases: Mapping[str, float] = field(default_factory=dict)
    """The seconds of this rank in this start by phase."""


def outcome_at(
    spec: RunSpec, progress: Progress, requests: StopRequests, moment: Moment, *, ends_epoch: bool
) -> Outcome | None:
    """Return how the run ends now, or None if it continues.

    Inside an epoch, only limits of time and of evaluations count: other criteria must not depend on
    the number of generations between two looks.
    """
    if requests.signals & INTERRUPT:
        return Outcome(progress, INTERRUPTED, moment, interrupted=True)
    is_late = requests.seconds >= time_limit(spec.stop)
    counts = counts_at(spec, progress.generation)
    if ends_epoch or is_late or (counts and is_spent(spec.stop, progress)):
        reason = first_reason(spec.stop, progress)
        if reason is not None:
            return Outcome(progress, reason, moment)
    signal = suspension(requests.signals)
    return Outcome(progress, signal, moment, suspended=True) if signal is not None else None


def size_of_generation_0(progress: Progress) -> str:
    """Return the size of an incomplete generation 0, as the end of a reason."""
    return f"generation 0 is incomplete, with {counted(progress.evaluations, 'individual')}"
