"""Trials of whether ranks share generations, with a clock that the test sets."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from islands.archipelago import team
from islands.archipelago.team import Trial
from islands.parallel import World
from islands.testing.ranks import on_ranks

LONGEST = 100
"""Generations after which a trial must be over."""


class Machine(threading.local):
    """The clock of each rank, and the time that its device still needs for what was launched."""

    now = 0.0
    launched = 0.0

    def synchronise(self) -> None:
        self.now, self.launched = self.now + self.launched, 0.0

    def perf_counter(self) -> float:
        return self.now


def run(
    monkeypatch: pytest.MonkeyPatch, seconds: dict[int, dict[bool, float]], first: float = 0.0
) -> list[tuple[list[bool], Trial]]:
    """Run generations until trials are over; return on each rank which ones were shared.

    `seconds` are those of a generation by rank, shared or not; the first one of a turn takes
    `first` more.
    """
    machine = Machine()
    monkeypatch.setattr(team, "time", machine)

    def one(ranks: World) -> tuple[list[bool], Trial]:
        of_rank: Any = SimpleNamespace(world=ranks, backend=machine)
        trial, shared = Trial(of_rank), list[bool]()
        while not trial.is_over and len(shared) < LONGEST:
            assert not trial.is_alone
            shared.append(trial.is_shared())
            is_new = shared[-2:-1] != shared[-1:]
            machine.launched += seconds[ranks.rank][shared[-1]] + (first if is_new else 0.0)
            if shared[-1]:
                machine.synchronise()  # as an exchange does
            trial.generation_ended()
        return shared, trial

    return on_ranks(len(seconds), one)


@pytest.mark.parametrize(
    ("seconds", "is_shared"),
    [
        ({0: {True: 1.0, False: 1.1}, 1: {True: 1.0, False: 1.1}}, True),
        ({0: {True: 1.1, False: 1.0}, 1: {True: 1.1, False: 1.0}}, False),
        # The slowest rank counts.
        ({0: {True: 1.0, False: 1.1}, 1: {True: 1.2, False: 1.0}}, False),
        ({0: {True: 1.0, False: 0.9}, 1: {True: 0.8, False: 2.0}, 2: {True: 1, False: 1}}, True),
    ],
)
def test_all_ranks_decide_for_what_is_faster_on_the_slowest(
    monkeypatch: pytest.MonkeyPatch, seconds: dict[int, dict[bool, float]], is_shared: bool
) -> None:
    found = run(monkeypatch, seconds)
    for shared, trial in found:
        assert trial.is_over
        assert shared == found[0][0], "ranks must exchange in the same generations"
        assert {*shared} == {True, False}
        assert trial.is_shared() == is_shared
        assert trial.is_alone != is_shared
        for way in (True, False):
            slowest = max(each[way] for each in seconds.values())
            assert trial.seconds_of(is_shared=way) == pytest.approx(slowest)


def test_the_first_generation_of_a_turn_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {True: 0.5, False: 1.0}
    ((_, trial),) = run(monkeypatch, {0: one}, first=50.0)
    for way, seconds in one.items():
        assert trial.seconds_of(is_shared=way) == pytest.approx(seconds)
