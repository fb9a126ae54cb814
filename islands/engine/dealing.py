"""Many tasks on several ranks: each rank has a queue of tasks, which is refilled as it works.

Several times a second, the ranks exchange results and refill their queues; their threads continue
meanwhile. The result of a task does not depend on the rank that performs it.
"""

import gc
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pickle import HIGHEST_PROTOCOL, dumps, loads
from typing import TypeVar

from islands.engine.limits import LIMITS
from islands.errors import UsageError
from islands.parallel import World

Task = TypeVar("Task")
Value = TypeVar("Value")


def solved_by_ranks(
    world: World,
    more: Callable[[int], tuple[Sequence[Task], bool]],
    solved: Callable[[Iterator[Task | None]], Generator[Value | None, None, None]],
    at_first: int,
) -> Iterator[list[Value]]:
    """Yield the results of all ranks in each round, the same on every rank; collective.

    `more(count)` returns at most `count` further tasks, the same on every rank, and whether these
    are the last; it may be collective. `solved` yields the results of this rank's tasks, and None
    when polled with nothing ready; a task is None if none is known yet. The queue of a rank has
    `at_first` tasks initially, then twice the number that it took in the last round: with more, the
    ranks would not finish at the same time.
    """
    queue, taken, all_are_dealt = deque[Task](), 0, False
    seconds = LIMITS.first_round_seconds

    def local_tasks() -> Iterator[Task | None]:
        nonlocal taken
        while True:
            is_last = all_are_dealt  # read before the queue, to which another thread may add tasks
            if queue:
                taken += 1
                yield queue.popleft()
            elif is_last:
                return
            else:
                yield None

    with closing(solved(local_tasks())) as results:
        lacks, is_over = world.allgather(at_first), False
        while not is_over:
            if not all_are_dealt and any(lacks):
                tasks, is_end = more(sum(lacks))
                dealt = zip(tasks, _ranks(lacks), strict=False)
                queue += [task for task, rank in dealt if rank == world.rank]
                all_are_dealt = is_end
            before = taken
            local, is_last, error = _round(results, min(seconds, LIMITS.round_seconds))
            seconds *= 2 if local else 1.1  # while programs compile, the speed is unknown
            # Pickle here rather than in MPI: then, all ranks learn about an error, and a rank need
            # not unpickle its own results.
            try:
                packed = dumps(local, HIGHEST_PROTOCOL)
            except Exception as problem:
                packed, error = b"", error or _not_sent(problem)
            enough = max(1, at_first // LIMITS.fewest_on_rank, 2 * (taken - before))
            lack = max(0, (enough if taken else at_first) - len(queue))
            world.wait_for_all()  # sleeps, as threads of this rank need its cores
            world.agree_on(error)
            parts = world.allgather((packed, is_last, lack))
            lacks, is_over = [lack for *_, lack in parts], all(last for _, last, _ in parts)
            with _no_collections():
                together = [
                    result
                    for rank, (packed, *_) in enumerate(parts)
                    for result in (local if rank == world.rank else loads(packed))
                ]
            yield together


def _not_sent(problem: Exception) -> UsageError:
    return UsageError(
        f"a result cannot be sent to other ranks: {problem}. Define the functions and classes of a"
        " problem at the top level of a script, without lambda"
    )


@contextmanager
def _no_collections() -> Iterator[None]:
    """Disable garbage collection, which would dominate the time to create many lasting objects."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


def _ranks(lacks: Sequence[int]) -> list[int]:
    """Return the rank of each task: up to `lacks[r]` tasks for rank r, evenly interleaved."""
    turns = [((k + 0.5) / lack, rank) for rank, lack in enumerate(lacks) for k in range(lack)]
    return [rank for _, rank in sorted(turns)]


def _round(
    results: Iterator[Value | None], seconds: float
) -> tuple[list[Value], bool, Exception | None]:
    """Return the results of a round, whether it is the last, and the error that ended it."""
    local, end = list[Value](), time.monotonic() + seconds
    try:
        for result in results:
            if result is not None:
                local.append(result)
            if time.monotonic() > end:
                return local, False, None
    except Exception as error:
        return local, True, error
    return local, True, None
