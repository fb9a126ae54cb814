"""Rank 0 decides for ranks that do not wait for each other, by the numbers that have arrived."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any

import pytest
from fakes import FakeArchipelago, FakeProblem, Quiet, Silent

from islands.configuration.resolve import layers, resolve
from islands.progress.tally import Tally
from islands.run import asynchronous as module
from islands.run.asynchronous import _AsynchronousLoop
from islands.testing.ranks import FakeChannel, FakeWorld, Shared

RANKS = 3


class Leader:
    """The loop of rank 0 in a generation; the others have two islands each."""

    def __init__(self, generation: int, interruption: Any = Quiet, **options: Any) -> None:
        self.channel = FakeChannel(range(1, RANKS))
        world = FakeWorld(0, Shared(RANKS, []))
        world.channel = lambda *_: self.channel  # type: ignore[method-assign, assignment, return-value]
        world.allgather = lambda value: [value]  # type: ignore[method-assign, assignment]
        archipelago, problem = FakeArchipelago(), FakeProblem()
        archipelago.generation = generation
        spec = resolve(layers({"islands": 2 * RANKS, **options}), problem)
        self.loop = _AsynchronousLoop(
            archipelago,  # type: ignore[arg-type]
            *(spec, problem, world, interruption, lambda _: None, Silent()),  # type: ignore[arg-type]
        )
        self.loop.look()

    def hears(self, rank: int, generation: int, signals: int = 0) -> bool:
        """Let the numbers of a rank arrive; return whether the run is over."""
        islands = FakeArchipelago(range(2 * rank, 2 * rank + 2))
        islands.generation = generation
        numbers = [*astuple(Tally.of(islands.measure())), generation, signals]
        self.loop._messages[rank] = numbers
        self.channel.has_arrived.add(rank)
        self.loop.rest()
        return self.loop.is_over


@pytest.fixture(autouse=True)
def _without_naps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_NAP_SECONDS", 0)


def test_a_run_ends_when_the_slowest_rank_has_done_all_generations() -> None:
    leader = Leader(50, stop="generations=50")
    assert not leader.loop.is_over
    assert not leader.hears(1, 50)  # rank 2 has not reported yet
    assert not leader.hears(2, 30)
    assert not leader.hears(2, 49)
    assert leader.hears(2, 50)
    assert leader.channel.pending == {1, 2}


def test_a_run_ends_when_all_have_reported_and_any_has_reached_the_target() -> None:
    leader = Leader(10, stop="target=960")
    assert not leader.hears(1, 60)  # 1002 - 60 is better than 960
    assert leader.hears(2, 0)


def test_a_stop_request_of_any_rank_ends_the_run_at_once() -> None:
    assert Leader(10, stop="generations=50").hears(2, 0, signals=1)
