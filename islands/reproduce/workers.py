"""The ranks of an experiment: runs on some of them, and runs that they divide."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from typing import TypeVar

from islands.errors import Suspended
from islands.parallel import World
from islands.run.signals import INTERRUPT, received

Value = TypeVar("Value")
_SUSPENSION = 2


class Workers:
    """The ranks of an experiment. All methods are collective.

    A signal to one rank raises the same exception on all ranks: at once if it ended a part of the
    work, otherwise before the next piece of work, so that complete values are never lost.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self._parts: dict[int, World | None] = {}

    def on_first(self, count: int, work: Callable[[World], Value]) -> Value:
        """Do `work` on the first `count` ranks while the others wait; return rank 0's value."""
        if count >= self.world.size:
            self._raise_received()
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
        self._raise_received()
        value, ended_by = None, 0
        if work is not None:
            try:
                value = work()
            except KeyboardInterrupt:
                ended_by = INTERRUPT
            except Suspended:
                ended_by = _SUSPENSION
        self.world.wait_for_all()
        made = self.world.allgather((value, ended_by))
        _raise(ended for _, ended in made)
        return [each for each, _ in made if each is not None]

    def _raise_received(self) -> None:
        """Raise the same exception on all ranks if one has received a signal."""
        if self.world.size > 1:
            _raise(self.world.allgather(received()))


def _raise(signals: Iterable[int]) -> None:
    together = reduce(or_, signals, 0)
    if together & INTERRUPT:
        raise KeyboardInterrupt
    if together:
        raise Suspended
