"""The scheduler: makes the cells of a plan on the devices of all ranks, several at a time.

Cells that are alike share launches (`queue.py`), each thread has a device of its own
(`workers.py`), and ranks get more cells as they take theirs (`dealing.py`). Who makes a cell does
not change its result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import count
from typing import Any, Generic, TypeAlias

from islands.backends.base import Backend
from islands.engine.dealing import solved_by_ranks
from islands.engine.plan import Cell, Plan
from islands.engine.queue import Queue
from islands.engine.workers import Workers
from islands.parallel import World

Numbered: TypeAlias = tuple[int, Cell]


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
        next_groups, known = partial(_next, iter(groups)), dict[int, Cell]()
        numbers = count()

        def deal(most: int) -> tuple[list[Sequence[Numbered[Cell]]], bool]:
            further = partial(next_groups, most)
            found, are_last = world.from_first(further) if from_first else further()
            numbered = [[(next(numbers), cell) for cell in group] for group in found]
            known.update(each for group in numbered for each in group)
            return [*numbered], are_last

        own = partial(self._own_numbers, is_over or (lambda: False))
        # Ranks exchange numbers instead of cells: a cell may have a large problem, or a function.
        for whole in solved_by_ranks(world, deal, own, self._workers.ahead):
            for number, made in whole:
                cell = known.pop(number)
                yield cell, self._plan.received(cell, made)
            if is_over is not None and world.any(is_over()):
                self._workers.ends.set()

    def _own_numbers(
        self, is_over: Callable[[], bool], groups: Iterator[Sequence[Numbered[Cell]] | None]
    ) -> Generator[tuple[int, Any] | None, None, None]:
        """Yield what this rank makes, with the numbers of its cells; None as `_own` does."""
        numbers = dict[int, int]()

        def cells(group: Sequence[Numbered[Cell]]) -> list[Cell]:
            numbers.update((id(cell), number) for number, cell in group)
            return [cell for _, cell in group]

        with closing(
            self._own(is_over, (None if each is None else cells(each) for each in groups))
        ) as own:
            for each in own:
                yield None if each is None else (numbers.pop(id(each[0])), each[1])

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
