"""The ranks of an experiment: runs on some of them, and runs that they divide."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from islands.errors import Suspended
from islands.parallel import World
from islands.run.signals import INTERRUPT, received

Value = TypeVar("Value")
_SUSPENSION = 2


class Workers:
    """The ranks of an experiment. All methods are collective.

    If a signal ends the work of one rank, all ranks raise the same exception after their work.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._parts: dict[int, World | None] = {}

    def on_first(self, count: int, work: Callable[[World], Value]) -> Value:
        """Do `work` on the first `count` ranks while the others wait; return rank 0's value."""
        if count >= self.world.size:
            return work(self.world)
        if count not in self._parts:
            self._parts[count] = self.world.part(count)
        part = self._parts[count]
        values = self._together(None if part is None else lambda: work(part))
        return values[0]

    def divided(self, count: int, work: Callable[[range], Value]) -> list[Value]:
        """Divide the numbers from 0 to `count` - 1 among the ranks; return what each one made.

        `work` must not use MPI. Ranks without a number make nothing.
        """
        if self.world.size == 1:
            return [work(range(count))]
        rank, size = self.world.rank, self.world.size
        mine = range(rank * count // size, (rank + 1) * count // size)
        return self._together((lambda: work(mine)) if mine else None)

    def _together(self, work: Callable[[], Value] | None) -> list[Value]:
        """Return the values of the ranks that have work, in their order."""
        value, signals = None, 0
        if work is not None:
            try:
                value = work()
            except KeyboardInterrupt:
                signals = INTERRUPT
            except Suspended:
                signals = _SUSPENSION
        self.world.wait_for_all()
        made = self.world.allgather((value, signals | received()))
        for _, each in made:
            signals |= each
        if signals & INTERRUPT:
            raise KeyboardInterrupt
        if signals:
            raise Suspended
        return [each for each, _ in made if each is not None]
