"""The time that a bound may take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Limit:
    """A number of seconds from now, which ends early if `is_stopped` returns True."""

    seconds: float
    is_stopped: Callable[[], bool]
    began: float = field(default_factory=time.perf_counter)

    @property
    def elapsed(self) -> float:
        """The seconds since the beginning."""
        return time.perf_counter() - self.began

    @property
    def left(self) -> float:
        """The seconds that are left; 0 if it is over."""
        return 0.0 if self.is_stopped() else max(0.0, self.seconds - self.elapsed)

    @property
    def share(self) -> float:
        """The share of the time that has passed, from 0 to 1."""
        return 1.0 if self.left == 0.0 else self.elapsed / self.seconds

    def part(self, share: float) -> Limit:
        """Return a share of the time that is left."""
        return Limit(share * self.left, self.is_stopped)
