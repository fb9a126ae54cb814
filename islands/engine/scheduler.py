"""The scheduler: makes the cells of a plan on the devices of all ranks, several at a time.

Cells that are alike share launches (`queue.py`), each thread has a device of its own
(`workers.py`), and ranks get more cells as they take theirs (`dealing.py`). Who makes a cell does
not change its result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Generic

from islands.backends.base import Backend
from islands.engine.dealing import solved_by_ranks
from islands.engine.plan import Cell, Plan
from islands.engine.queue import Queue
from islands.engine.workers import Workers
from islands.parallel import World


class Scheduler(Generic[Cell]):
    """Makes the cells of a plan."""

    def __init__(
        self,
        plan: Plan[Cell],
        devices: Sequence[Backend],
        world: World,
        *,
        places: int | None = None,
    ) -> None:
        """Take a device for each thread of this rank: see `solving_devices`.

        `places` is the number of runs that share launches; by default, as many as fill a device.
        """
        self._plan, self._world, self._places = plan, world, places
        self._workers = Workers(devices, on_gpu=not devices[0].in_host_memory)
        self.count = self._workers.count
        """The number of threads of this rank."""

    def run(
        self,
        groups: Iterable[Sequence[Cell] | None],
        is_over: Callable[[], bool] | None = None,
        *,
        from_first: bool = False,
    ) -> Iterator[tuple[Cell, Any]]:
        """Yield what the plan makes of each cell, or its error, the same on each rank; collective.

        One rank makes the cells of a group; None stands for groups that are not known yet. All
        ranks have the same groups, unless they are taken `from_first`, rank 0. When `is_over` is
        true on a rank, cells in progress end without a result.
        """
        world = self._world
        if world.size == 1:
            yield from filter(None, self._own(is_over, iter(groups)))
            return
        more = partial(_next, iter(groups))
        deal = (lambda count: world.from_first(partial(more, count))) if from_first else more
        own = partial(self._own, is_over or (lambda: False))
        for whole in solved_by_ranks(world, deal, own, self._workers.ahead):
            yield from whole
            if is_over is not None and world.any(is_over()):
                self._workers.ends.set()

    def _own(
        self, is_over: Callable[[], bool] | None, groups: Iterator[Sequence[Cell] | None]
    ) -> Generator[tuple[Cell, Any] | None, None, None]:
        """Yield what this rank makes, and None whenever nothing has come for a moment."""
        cells = (each for group in groups for each in ((None,) if group is None else group))
        return self._workers.stream(cells, self._solving, is_over)

    def _solving(
        self, first: Backend, cells: Iterator[Cell | None]
    ) -> Callable[[Backend], Iterator[tuple[Cell, Any]]]:
        """Return what a thread calls with its device; threads that share a GPU call the same."""
        workers = self._workers
        queue = Queue(
            *(self._plan, cells, first, workers.ends.is_set),
            threads=workers.together,
            places=self._places,
        )

        def results(device: Backend) -> Iterator[tuple[Cell, Any]]:
            device.begin_run()  # in this thread
            return queue.results(device)

        return results


def _next(groups: Iterator[Sequence[Cell] | None], most: int) -> tuple[list[Sequence[Cell]], bool]:
    """Return the groups that are known, at most `most`, and whether there are no more."""
    found = list[Sequence[Cell]]()
    for group in groups:
        if group is None:
            return found, False
        found.append(group)
        if len(found) == most:
            return found, False
    return found, True
