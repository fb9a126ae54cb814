"""Cells and tasks are dealt to ranks and threads; signals and errors end the work of all."""

import time
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice
from threading import Event

import pytest

from islands.cells import campaign as module
from islands.cells.campaign import Campaign
from islands.engine import dealing
from islands.engine.dealing import solved_by_ranks
from islands.engine.limits import LIMITS
from islands.engine.signals import INTERRUPT
from islands.engine.workers import SharedIterator, merged
from islands.errors import Suspended, UsageError
from islands.parallel import World, world
from islands.testing.ranks import on_ranks

SIGTERM = 2


@pytest.mark.parametrize(
    ("number", "raised"), [(INTERRUPT, KeyboardInterrupt), (SIGTERM, Suspended)]
)
def test_a_signal_after_complete_work_is_raised_before_the_next_piece(
    number: int, raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = 0
    monkeypatch.setattr(module, "received", lambda: heard)

    def interrupted(world: World) -> int:
        nonlocal heard
        heard = number
        return world.size

    def work(world: World) -> tuple[int, int]:
        mine, done = Campaign(world), list[int]()
        assert mine.on_first(1, lambda part: part.size) == 1
        complete = mine.on_first(2, interrupted)
        with pytest.raises(raised):
            mine.on_first(2, lambda _: done.append(1))
        with pytest.raises(raised):
            # Those of another table.
            Campaign(world).on_first(2, lambda _: done.append(1))
        return complete, len(done)

    assert on_ranks(2, work) == [(2, 0)] * 2


Squares = Generator[tuple[int, int] | None, None, None]


class Tasks:
    """Numbers that are dealt, in parts of any size."""

    def __init__(self, count: int) -> None:
        self.left, self.dealt = iter(range(count)), list[int]()

    def more(self, count: int) -> tuple[list[int], bool]:
        """Return the next numbers, and whether these are the last."""
        found = list(islice(self.left, count))
        self.dealt.append(len(found))
        return found, len(found) < count


def squares(tasks: Iterator[int | None]) -> Squares:
    for task in tasks:
        yield None if task is None else (task, task**2)


def test_all_tasks_are_solved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dealing, "LIMITS", replace(LIMITS, round_seconds=-1.0))
    tasks = Tasks(50)
    found = [each for part in solved_by_ranks(World(), tasks.more, squares, 3) for each in part]
    assert found == [(number, number**2) for number in range(50)]
    assert max(tasks.dealt) <= 3  # and never all of them at the beginning


def test_ranks_that_are_over_wait_for_the_slowest() -> None:
    def one(ranks: World) -> list[tuple[int, int]]:
        def slowly(tasks: Iterator[int | None]) -> Squares:
            for each in squares(tasks):
                time.sleep(0.05 if ranks.rank == 1 and each is not None else 0.0)
                yield each

        parts = solved_by_ranks(ranks, Tasks(9).more, slowly, 3)
        return sorted(each for part in parts for each in part)

    assert on_ranks(3, one) == [[(number, number**2) for number in range(9)]] * 3


def test_nothing_goes_on_if_another_rank_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    ends, begun, rounds = Event(), list[int](), list[int]()
    ranks = World()

    def agree_on(_: Exception | None) -> None:
        rounds.append(len(begun))
        if len(rounds) == 2:
            raise OSError("no disk")

    def solve(tasks: Iterator[int | None]) -> Iterator[tuple[int, int]]:
        for task in filter(None, tasks):
            begun.append(task)
            time.sleep(1e-3)
            yield task, 0

    def of_rank(tasks: Iterator[int | None]) -> Squares:
        left = SharedIterator(tasks, ends.is_set)
        return merged([lambda: solve(left)], ends, lambda: False, most=8)

    monkeypatch.setattr(ranks, "agree_on", agree_on)
    with pytest.raises(OSError, match="no disk") as _kept:  # with its traceback
        for _ in solved_by_ranks(ranks, Tasks(100_000).more, of_rank, 1000):
            pass
    count = len(begun)
    time.sleep(0.1)
    assert len(begun) == count


@pytest.mark.mpi
@pytest.mark.parametrize("error", [None, UsageError("too heavy")])
def test_all_ranks_see_the_same(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    monkeypatch.setattr(dealing, "LIMITS", replace(LIMITS, round_seconds=-1.0))
    ranks = world()

    def fail_on_the_last(tasks: Iterator[int | None]) -> Squares:
        for each in squares(tasks):
            if error is not None and ranks.rank == ranks.size - 1 and each and each[0] > 20:
                raise error
            yield each

    found = list[tuple[int, int]]()
    fails = nullcontext() if error is None else pytest.raises(type(error), match=str(error))
    with fails:
        for part in solved_by_ranks(ranks, Tasks(60).more, fail_on_the_last, 3):
            found += part
    if error is None:
        assert sorted(found) == [(number, number**2) for number in range(60)]
    assert len({*ranks.allgather(tuple(found))}) == 1


@pytest.mark.parametrize("stops", [False, True])
def test_what_is_done_when_it_is_over_is_kept_unless_the_caller_has_stopped(*, stops: bool) -> None:
    ends, left = Event(), list[int]()
    tasks = SharedIterator(iter(range(20)), ends.is_set)

    def waiting() -> Iterator[tuple[int, int]]:
        yield next(tasks), 0
        ends.wait()
        for task in range(1, 9):
            yield task, 0
        left.extend(tasks)

    found = list[int]()
    done = merged([waiting], ends, lambda: bool(found), most=8)
    for task, _ in filter(None, done):
        found.append(task)
        if stops:
            break
    done.close()
    assert found == ([0] if stops else [*range(9)])
    assert left == []
