"""Report the progress of a long generation, and settings that would shorten it."""

from __future__ import annotations

import math
import os
import platform
import sys
import time
from collections.abc import Callable

from islands.archipelago.archipelago import Archipelago
from islands.configuration.spec import RunSpec
from islands.text import counted, show

_SECONDS = 5.0
"""Seconds until a generation counts as long, and between messages about it."""
_HANGING_SECONDS = 3.0
"""Seconds after the end of a run until an evaluation counts as one that may never return."""


class Slow:
    """Reports on the generations in progress; called from a thread."""

    def __init__(
        self,
        archipelago: Archipelago,
        spec: RunSpec,
        say: Callable[[str], None],
        evaluator: str = "an evaluation",
    ) -> None:
        """Print with `say`; `evaluator` is what may never return."""
        self._archipelago, self._spec, self._say = archipelago, spec, say
        self._evaluator = evaluator
        self._ahead = range(0)
        self._began = self._said = 0.0
        self._over_at = math.inf
        self._has_advised = self._has_warned = False

    def look(self, *, is_over: bool = False) -> None:
        """Print the progress of the current generations if a message is due.

        `is_over` tells that they should have ended. An evaluation that prevents this is reported
        on standard error, once.
        """
        now, ahead = time.perf_counter(), self._archipelago.ahead
        self._over_at = min(self._over_at, now) if is_over and ahead else math.inf
        if now - self._over_at >= _HANGING_SECONDS and not self._has_warned:
            self._has_warned = True
            self._warn(now - self._over_at)
        if ahead is not self._ahead:
            self._ahead, self._began, self._said = ahead, now, now
        elif ahead and now - self._said >= _SECONDS:
            self._said = now
            words = self._words(ahead, now - self._began)
            if self._archipelago.ahead is ahead:  # they may have completed meanwhile
                self._say(words)

    def _words(self, ahead: range, seconds: float) -> str:
        what = f"generation {ahead[0]}"
        if len(ahead) > 1:
            what = f"generations {ahead[0]} to {ahead[-1]}"
        else:
            mine = self._archipelago.mine
            size = self._spec.individuals(mine)
            where = "" if len(mine) == self._spec.general.islands else " of rank 0"
            what += f", {self._archipelago.made()} of {counted(size, 'individual')}{where}"
        return f"  {what} after {seconds:.0f} s{self._advice()}"

    def _warn(self, seconds: float) -> None:
        """Tell what to do about an evaluation that does not return, also if the run is quiet."""
        show(
            f"islands: the run should have ended {seconds:.0f} s ago, but waits for"
            f" {self._evaluator}. If it never returns, end the run with Ctrl-C, twice, or with"
            f" kill -9 {os.getpid()} on {platform.node()}, and find the loop with islands check",
            file=sys.stderr,
        )

    def _advice(self) -> str:
        """Return settings that shorten generations, the first time; later an empty string."""
        if self._has_advised:
            return ""
        self._has_advised = True
        ways = ["a smaller --population"]
        if any(each.improver.name != "none" for each in self._spec.all_colonies):
            ways += ["a smaller improver.rate", "fewer improver.steps"]
        ways.append("a GPU" if self._archipelago.is_on_cpu else "more GPUs")
        return f". To shorten it: {', '.join(ways[:-1])}, or {ways[-1]}"
