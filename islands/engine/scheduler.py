"""The scheduler: performs the runs of a plan on the devices of all ranks, several at a time.

Similar runs share launches (`queue.py`), threads have a device each (`workers.py`), and ranks get
more runs as they become idle (`dealing.py`). Where a run is performed does not change its result.
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
    """Performs the runs of a plan."""

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
        """Yield each cell with what the plan makes of its result, or with its error; collective.

        All ranks yield the same. The cells of a group are performed by one rank; None stands for
        groups that are not known yet. All ranks have the same groups, unless they are taken
        `from_first`, rank 0. When `is_over` is true on a rank, runs in progress end without a
        result.
        """
        world = self._world
        if world.size == 1:
            cells = (cell for group in groups for cell in ((None,) if group is None else group))
            yield from filter(None, self._own(is_over, cells))
            return
        next_groups, known = partial(_next, iter(groups)), dict[int, Cell]()
        numbers = count()

        def deal(most: int) -> tuple[list[Sequence[Numbered[Cell]]], bool]:
            further = partial(next_groups, most)
            found, are_last = world.from_first(further) if from_first else further()
            numbered = [[(next(numbers), cell) for cell in group] for group in found]
            known.update(pair for group in numbered for pair in group)
            return [*numbered], are_last

        own = partial(self._own_numbers, is_over or (lambda: False))
        # Ranks exchange numbers instead of cells: a cell may have a large problem, or a function.
        for results in solved_by_ranks(world, deal, own, self._workers.ahead):
            for number, made in results:
                cell = known.pop(number)
                yield cell, self._plan.received(cell, made)
            if is_over is not None and world.any(is_over()):
                self._workers.ends.set()

    def _own_numbers(
        self, is_over: Callable[[], bool], groups: Iterator[Sequence[Numbered[Cell]] | None]
    ) -> Generator[tuple[int, Any] | None, None, None]:
        """Yield the results of this rank as `_own` does, with the numbers of their cells."""
        numbers = dict[int, int]()

        def cells() -> Iterator[Cell | None]:
            for group in groups:
                if group is None:
                    yield None
                for number, cell in group or ():
                    numbers[id(cell)] = number
                    yield cell

        with closing(self._own(is_over, cells())) as results:
            for result in results:
                yield None if result is None else (numbers.pop(id(result[0])), result[1])

    def _own(
        self, is_over: Callable[[], bool] | None, cells: Iterator[Cell | None]
    ) -> Generator[tuple[Cell, Any] | None, None, None]:
        """Yield the results of this rank, and None when polled with nothing ready."""
        return self._workers.stream(cells, self._solver, is_over)

    def _solver(
        self, first: Backend, cells: Iterator[Cell | None]
    ) -> Callable[[Backend], Iterator[tuple[Cell, Any]]]:
        """Return the function that the threads of a queue call with their devices."""
        queue = Queue(
            *(self._plan, cells, first, self._workers.ends.is_set),
            threads=self._workers.together,
            places=self._places,
        )

        def results(device: Backend) -> Iterator[tuple[Cell, Any]]:
            device.begin_run()  # in this thread
            return queue.results(device)

        return results


def _next(groups: Iterator[Sequence[Cell] | None], most: int) -> tuple[list[Sequence[Cell]], bool]:
    """Return at most `most` of the groups that are known, and whether there are no more."""
    found = list[Sequence[Cell]]()
    for group in groups:
        if group is None:
            return found, False
        found.append(group)
        if len(found) == most:
            return found, False
    return found, True
