"""How the loop of a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from islands.progress.progress import Moment, Progress
from islands.text import counted

INTERRUPTED = "interrupted by a signal"
"""The reason of a run that SIGINT ended."""
ENDED_BY_CALLBACK = "the callback returned True"


@dataclass(frozen=True)
class Outcome:
    """How the loop ended."""

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


def size_of_generation_0(progress: Progress) -> str:
    """Return the size of an incomplete generation 0, as the end of a reason."""
    return f"generation 0 is incomplete, with {counted(progress.evaluations, 'individual')}"
