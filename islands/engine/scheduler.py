"""The scheduler: performs the runs of a plan on the devices of all ranks, several at a time.

Similar runs share launches (`queue.py`), every thread has a device (`workers.py`), and ranks get
more runs as they become idle (`dealing.py`). Where a run is performed does not change its result.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import count, cycle
from threading import Event
from typing import Any, Generic, TypeAlias

from islands.backends.base import Backend
from islands.engine.dealing import solved_by_ranks
from islands.engine.limits import LIMITS
from islands.engine.plan import Cell, Plan
from islands.engine.queue import Queue
from islands.engine.workers import SharedIterator, merged
from islands.errors import Suspended
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
        self._plan, self._devices, self._world, self._places = plan, devices, world, places
        self.count = len(devices)
        """The number of threads of this rank."""
        self._is_on_gpu = not devices[0].in_host_memory
        self._ends = Event()
        """Set when runs in progress must end."""

    def run(
        self,
        groups: Iterable[Sequence[Cell] | None],
        is_over: Callable[[], bool] | None = None,
        *,
        from_first: bool = False,
    ) -> Iterator[tuple[Cell, Any]]:
        """Yield each cell with its value (see `Plan.value_of`), or with its error; collective.

        All ranks yield the same. The cells of a group are performed by one rank; None stands for
        groups that are not known yet. All ranks must pass the same groups or, with `from_first`,
        only those of rank 0 count. When `is_over` is true on any rank, runs in progress end
        without a result.
        """
        world = self._world
        if world.size == 1:
            cells = (cell for group in groups for cell in ((None,) if group is None else group))
            yield from filter(None, self._local_results(is_over, cells))
            return
        next_groups, known = partial(_next, iter(groups)), dict[int, Cell]()
        numbers = count()

        def deal(most: int) -> tuple[list[Sequence[Numbered[Cell]]], bool]:
            further = partial(next_groups, most)
            groups_read, are_last = world.from_first(further) if from_first else further()
            numbered = [[(next(numbers), cell) for cell in group] for group in groups_read]
            known.update(pair for group in numbered for pair in group)
            return [*numbered], are_last

        solve_local = partial(self._numbered_results, is_over or (lambda: False))
        on_cpu = LIMITS.ahead_on_rank * self.count
        ahead = LIMITS.ahead_on_rank_with_gpu if self._is_on_gpu else on_cpu
        # Ranks exchange numbers instead of cells: a cell may have a large problem, or a function.
        for results in solved_by_ranks(world, deal, solve_local, ahead):
            for number, value in results:
                cell = known.pop(number)
                yield cell, self._plan.received(cell, value)
            if is_over is not None and world.any(is_over()):
                self._ends.set()

    def _numbered_results(
        self, is_over: Callable[[], bool], groups: Iterator[Sequence[Numbered[Cell]] | None]
    ) -> Generator[tuple[int, Any] | None, None, None]:
        """Yield the results of this rank with the numbers of their cells: see `_local_results`."""
        numbers = dict[int, int]()

        def cells() -> Iterator[Cell | None]:
            for group in groups:
                if group is None:
                    yield None
                for number, cell in group or ():
                    numbers[id(cell)] = number
                    yield cell

        with closing(self._local_results(is_over, cells())) as results:
            for result in results:
                yield None if result is None else (numbers.pop(id(result[0])), result[1])

    def _local_results(
        self, is_over: Callable[[], bool] | None, cells: Iterator[Cell | None]
    ) -> Generator[tuple[Cell, Any] | None, None, None]:
        """Yield the results of this rank, and None when polled with nothing ready."""
        self._ends.clear()  # the end of the previous call set it
        must_end, on_gpu = self._ends.is_set, self._is_on_gpu
        left = SharedIterator(cells, must_end)
        # The threads of a GPU share a queue; each thread of a CPU has its own.
        threads = self.count if on_gpu else 1
        queues = [
            Queue(self._plan, left, device, must_end, threads=threads, places=self._places)
            for device in self._devices[::threads]
        ]
        pairs = zip(cycle(queues), self._devices, strict=False)
        return merged(
            [partial(_results, queue, device, must_end) for queue, device in pairs],
            *(self._ends, is_over),
            most=self.count * (LIMITS.most_done_on_gpu if on_gpu else LIMITS.most_done),
            rest_seconds=LIMITS.rest_seconds_on_gpu if on_gpu else 0.0,
        )


def _results(
    queue: Queue[Cell], device: Backend, must_end: Callable[[], bool]
) -> Iterator[tuple[Cell, Any]]:
    device.begin_run()  # in this thread
    with suppress(Suspended), device.stopping_if(must_end):
        yield from queue.results(device)


def _next(groups: Iterator[Sequence[Cell] | None], most: int) -> tuple[list[Sequence[Cell]], bool]:
    """Return at most `most` of the groups that are known, and whether there are no more."""
    first = list[Sequence[Cell]]()
    for group in groups:
        if group is None:
            return first, False
        first.append(group)
        if len(first) == most:
            return first, False
    return first, True
