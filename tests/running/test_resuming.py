"""Epochs, checkpoints and suspension of resumed runs."""

from __future__ import annotations

from dataclasses import replace
from threading import local

import pytest
from epochs_for_tests import Slow, resumed, run
from fakes import FakeArchipelago, FakeProblem, Quiet

from islands.archipelago.measure import IslandMeasure
from islands.configuration.resolve import layers, resolve
from islands.parallel import World
from islands.progress.progress import Moment, Progress
from islands.run import loop as module
from islands.run.loop import Loop
from islands.run.signals import INTERRUPT, SUSPENSIONS
from islands.testing.ranks import on_ranks


def test_steps_grow_after_resuming_inside_a_long_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow(monkeypatch, seconds=0.05)
    options = {"stop": "generations=100", "record.every": 1000, "migration": "none"}
    outcome, _, _ = resumed(options, slow, Moment(30, 7.0, None))
    # The first step measures the speed, and the last one ends the epoch.
    assert slow.calls == ["advance 1", *["advance 8"] * 8, "advance 5"]
    assert outcome.progress.generation == 100


def test_ranks_with_different_clocks_take_the_same_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = local()
    monkeypatch.setattr(module.time, "perf_counter", lambda: getattr(now, "seconds", 0.0))

    class OwnTime(FakeArchipelago):
        def __init__(self, rank: int) -> None:
            super().__init__(range(rank, rank + 1))
            self.seconds = 0.05 if rank == 0 else 0.2

        def advance(self, generations: int) -> None:
            super().advance(generations)
            now.seconds += generations * self.seconds

    def one(world: World) -> list[str]:
        now.seconds = 3.0 * world.rank
        islands = OwnTime(world.rank)
        options = {"stop": "generations=100", "record.every": 1000, "islands": 2}
        spec = resolve(layers({**options, "migration": "none"}), FakeProblem())
        islands.generation, origin = 30, Moment(30, 7.0, None)
        Loop(
            islands,  # type: ignore[arg-type]
            *(spec, FakeProblem(), world),
            Quiet,  # type: ignore[arg-type]
            keep=lambda _: None,
            origin=origin,
        ).run()
        return islands.calls

    first, second = on_ranks(2, one)
    assert first == second == ["advance 1", *["advance 8"] * 8, "advance 5"]


@pytest.mark.parametrize("generation", [0, 20, 50, 60, 64, 75])
def test_a_resumed_run_has_the_epochs_of_the_uninterrupted_one(generation: int) -> None:
    options = {"stop": "generations=130", "interval": 20}
    _, _, whole = run(options, FakeProblem())
    before = next((e.progress for e in reversed(whole) if e.progress.generation < generation), None)
    later = FakeArchipelago()
    outcome, epochs, _ = resumed(options, later, Moment(generation, 7.0, before))
    wanted = [epoch for epoch in whole if epoch.progress.generation >= generation]
    assert [epoch.measures for epoch in epochs] == [epoch.measures for epoch in wanted]
    for mine, other in zip(epochs, wanted, strict=True):
        assert replace(mine.progress, seconds=0) == replace(other.progress, seconds=0)
    assert outcome.reason == "130 generations done"
    assert outcome.progress.seconds > 7
    assert "start" not in later.calls


def test_after_resuming_the_best_remains_attributed_to_its_island() -> None:
    class Restarting(FakeArchipelago):
        def measure(self) -> list[IslandMeasure]:
            since = self.generation // 100 * 100
            return [IslandMeasure(i, 7, 0, 0.0, 0, since, 1) for i in self.mine]

    before = Progress(100, 1, 7.0, 7, 1, 30, 0.0)
    options = {"reset": 100, "stop": ["stagnation=200", "generations=5000"]}
    outcome, epochs, _ = resumed(options, Restarting(), Moment(150, 7.0, before))
    assert outcome.reason == "no improvement for 220 generations"
    found = [(each.progress.island, each.progress.best_generation) for each in epochs]
    assert found == [(1, 30)] * len(epochs)


def test_after_resuming_inside_an_epoch_a_target_ends_the_run_at_its_end() -> None:
    outcome, _, _ = resumed({"stop": "target=990"}, FakeArchipelago(), Moment(30, 1.0, None))
    assert outcome.progress.generation == 50


def test_a_run_past_its_last_generation_ends_immediately() -> None:
    outcome, epochs, _ = resumed(
        {"stop": "generations=60"}, FakeArchipelago(), Moment(77, 1.0, None)
    )
    assert (outcome.progress.generation, len(epochs)) == (77, 1)
    assert outcome.reason == "60 generations done"


def test_the_time_continues_after_resuming(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch, seconds=0.1)
    outcome, _, _ = resumed({"stop": "seconds=9"}, slow, Moment(50, 4.0, None))
    assert outcome.progress.generation == 100
    assert outcome.progress.seconds == pytest.approx(9)


def test_checkpoints_are_also_due_inside_long_epochs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow(monkeypatch, seconds=0.5)
    options = {"stop": "generations=20", "record.every": 10, "checkpoint.every": "3s"}
    _, epochs, kept = resumed(options, slow, Moment(0, 0.5, None))
    assert [moment.generation for moment in kept] == [6, 12, 18]
    assert [moment.seconds for moment in kept] == pytest.approx([3.5, 6.5, 9.5])
    # A resumed run compares with the end of the previous epoch.
    assert [moment.before for moment in kept] == [
        epochs[0].progress,
        epochs[1].progress,
        epochs[1].progress,
    ]


def test_an_interval_of_zero_disables_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch, seconds=50)
    options = {"stop": "generations=20", "checkpoint.every": "0"}
    assert resumed(options, slow, Moment(0, 0.0, None))[2] == []


@pytest.mark.parametrize(("number", "name"), SUSPENSIONS.items())
def test_a_signal_suspends_a_run_inside_an_epoch(
    number: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch, seconds=0.5)

    class AfterFourSeconds(Quiet):
        @property
        def requested(self) -> int:
            return number if slow.now >= 9 else 0

    outcome, _, _ = run({"stop": "target=999"}, FakeProblem(), AfterFourSeconds(), archipelago=slow)
    assert (outcome.suspended, outcome.interrupted, outcome.reason) == (True, False, name)
    assert (outcome.moment.generation, outcome.progress.generation) == (7, 7)


def test_a_completed_run_is_not_suspended() -> None:
    class Late(Quiet):
        requested = 2

    options = {"stop": "generations=50"}
    outcome, _, _ = resumed(options, FakeArchipelago(), Moment(50, 1.0, None), Late())
    assert (outcome.suspended, outcome.reason) == (False, "50 generations done")


def test_an_interruption_takes_precedence_over_a_suspension() -> None:
    class Both(Quiet):
        requested = INTERRUPT | 4

    outcome, _, _ = run({"stop": "generations=50"}, FakeProblem(), Both())
    assert (outcome.interrupted, outcome.suspended) == (True, False)
