"""A signal to one rank ends an experiment on all ranks, and loses no complete value."""

from __future__ import annotations

import pytest
from ranks_for_tests import on_ranks

from islands.campaign import engine
from islands.campaign.engine import Campaign
from islands.errors import Suspended
from islands.parallel import World
from islands.run.signals import INTERRUPT

SIGTERM, SIGUSR1 = 2, 4


@pytest.mark.parametrize(
    ("number", "raised"),
    [(INTERRUPT, KeyboardInterrupt), (SIGTERM, Suspended), (SIGUSR1, Suspended)],
)
def test_a_signal_after_complete_work_is_raised_before_the_next_piece(
    number: int, raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    heard = 0
    monkeypatch.setattr(engine, "received", lambda: heard)

    def interrupted(numbers: range) -> list[int]:
        nonlocal heard
        heard = number
        return list(numbers)

    def work(world: World) -> tuple[list[list[int]], int]:
        mine, done = Campaign(world), list[int]()
        assert mine.divided(3, list) == [[0], [1, 2]]
        complete = mine.divided(4, interrupted)
        with pytest.raises(raised):
            mine.divided(2, lambda _: done.append(1))
        with pytest.raises(raised):
            # Those of another table.
            Campaign(world).on_first(2, lambda _: done.append(1))
        return complete, len(done)

    assert on_ranks(2, work) == [([[0, 1], [2, 3]], 0)] * 2


@pytest.mark.parametrize("raised", [KeyboardInterrupt, Suspended])
def test_a_signal_that_ends_a_part_of_the_work_is_raised_at_once(
    raised: type[BaseException],
) -> None:
    def part(numbers: range) -> int:
        if 0 in numbers:
            raise raised
        return len(numbers)

    def work(world: World) -> bool:
        with pytest.raises(raised):
            Campaign(world).divided(2, part)
        return True

    assert on_ranks(2, work) == [True, True]


def test_ranks_without_work_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(World, "part", lambda self, count: self if self.rank < count else None)
    assert on_ranks(3, lambda world: Campaign(world).on_first(2, lambda each: each.rank)) == [0] * 3
    assert on_ranks(3, lambda world: Campaign(world).divided(2, list)) == [[[0], [1]]] * 3
