"""What a run says while a generation takes long: how far it is, and what would make it shorter."""

from __future__ import annotations

import time
from collections.abc import Callable

from islands.archipelago.archipelago import Archipelago
from islands.spec.spec import RunSpec
from islands.text import counted

_SECONDS = 5.0
"""After which a generation takes long, and from one word about it to the next."""


class Slow:
    """Looks at the generations that are being made, from a thread that has nothing else to do."""

    def __init__(self, archipelago: Archipelago, spec: RunSpec, say: Callable[[str], None]) -> None:
        self._archipelago, self._spec, self._say = archipelago, spec, say
        self._ahead = range(0)
        self._began = self._said = 0.0
        self._has_advised = False

    def look(self) -> None:
        """Say how far the generations are, where it is time for that."""
        now, ahead = time.perf_counter(), self._archipelago.ahead
        if ahead is not self._ahead:
            self._ahead, self._began, self._said = ahead, now, now
        elif ahead and now - self._said >= _SECONDS:
            self._said = now
            words = self._words(ahead, now - self._began)
            if self._archipelago.ahead is ahead:  # and not whole meanwhile
                self._say(words)

    def _words(self, ahead: range, seconds: float) -> str:
        what = f"generation {ahead[0]}"
        if len(ahead) > 1:
            what = f"generations {ahead[0]} to {ahead[-1]}"
        else:
            general, mine = self._spec.general, self._archipelago.mine
            size = len(mine) * general.population
            where = "" if len(mine) == general.islands else " of rank 0"
            what += f", {self._archipelago.made()} of {counted(size, 'individual')}{where}"
        return f"  {what} after {seconds:.0f} s{self._advice()}"

    def _advice(self) -> str:
        """Return what would make generations shorter; once is enough."""
        if self._has_advised:
            return ""
        self._has_advised = True
        ways = ["a smaller --population"]
        if self._spec.improver.name != "none":
            ways += ["a smaller improver.rate", "fewer improver.steps"]
        ways.append("a GPU" if self._archipelago.is_on_cpu else "more GPUs")
        return f". What makes it shorter: {', '.join(ways[:-1])}, or {ways[-1]}"
