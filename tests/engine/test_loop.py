"""Runs from epoch to epoch, and launches that take too long."""

import errno
import os
import time
from dataclasses import replace
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from epochs_for_tests import Seen, Slow, resumed, run
from fakes import FakeArchipelago, FakeProblem, Quiet, Silent

from islands.archipelago.measure import IslandMeasure
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine import pace as pace
from islands.engine.failures import Failures
from islands.engine.halting import HaltedError, Watch
from islands.engine.limits import LIMITS
from islands.engine.loop import Loop
from islands.engine.observers import Calling, Checkpointing, Observer, Recording
from islands.errors import InputError
from islands.parallel import World
from islands.progress import usage
from islands.progress.progress import Epoch, Moment, Progress
from islands.testing.ranks import on_ranks


def test_a_start_that_fails_on_one_rank_fails_on_all() -> None:
    class Failing(FakeArchipelago):
        def start(self) -> None:
            if self.recorded[0] == 1:
                raise InputError("short.tour: No such file")
            super().start()

    messages = list[str]()

    def one(world: World) -> None:
        resolved = resolve(Request.of({"stop": "generations=1", "islands": 2}), FakeProblem())
        islands: Any = Failing(range(world.rank, world.rank + 1))
        interruption: Any = Quiet
        with pytest.raises(InputError, match=r"short\.tour") as caught:
            Loop(islands, resolved, world, interruption).run()
        messages.append(str(caught.value))

    on_ranks(2, one)
    assert messages == ["[rank 1 of 2] short.tour: No such file"] * 2


def test_restarts_do_not_delay_the_stagnation_criterion() -> None:
    class Restarting(FakeArchipelago):
        def measure(self) -> list[IslandMeasure]:
            since = self.generation // 100 * 100
            return [IslandMeasure(i, 7, 0, 0.0, 0, since, 1) for i in self.recorded]

    options = {"reset": 100, "stop": ["stagnation=200", "generations=5000"]}
    outcome, _ = run(options, archipelago=Restarting())
    assert outcome.reason == "no improvement for 200 generations"


@pytest.mark.parametrize("generation", [0, 20, 64])
def test_a_resumed_run_has_the_epochs_of_the_uninterrupted_one(generation: int) -> None:
    options = {"stop": "generations=130", "interval": 20}
    _, whole = run(options)
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


def test_checkpoints_are_also_due_inside_long_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_checkpoint_that_cannot_be_written_waits_for_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Lasting(Quiet):
        """Lets the run go on after the failure of a file."""

        @staticmethod
        def request(_reason: Any) -> None:
            """Do nothing."""

    tried = list[int]()

    def keep(moment: Moment) -> None:
        tried.append(moment.generation)
        slow.now += 1.0  # before it fails
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    slow, silent = Slow(monkeypatch, seconds=0.5), Silent()
    failures = Failures(World(), None, Lasting())
    checkpointing = Checkpointing(SimpleNamespace(keep=keep), silent, failures, 3.0, None)
    options = {"stop": "generations=20", "record.every": 10}
    run(options, archipelago=slow, others=[checkpointing])
    assert tried == [5, 9, 13, 17]
    assert "No space left" in failures.of_all_ranks()


def test_the_phases_are_the_seconds_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Migrating(Slow):
        def migrate(self) -> None:
            super().migrate()
            self.now += 0.25

    def callback(progress: Progress) -> None:
        seen.append((progress.generation, progress.seconds))
        slow.now += 2.0

    class Writing(Observer):
        def epoch(self, epoch: Epoch) -> None:
            slow.now += 0.125

    slow, seen = Migrating(monkeypatch, seconds=0.5), list[tuple[int, float]]()
    options = {"stop": "generations=20", "interval": 5, "record.every": 10, "islands": 2}
    others = [Calling(callback, World()), Writing()]
    outcome, _ = run(options, archipelago=slow, others=others)
    # At each visit, and after each second of work between two of them.
    called = [0, 2, 4, 5, 7, 9, 10, 12, 14, 15, 17, 19, 20]
    assert [generation for generation, _ in seen] == called
    wanted = {"generations": 21 * 0.5, "migration": 4 * 0.25, "callback": len(called) * 2.0}
    wanted |= {"records": 5 * 0.125}
    assert outcome.phases == {**dict.fromkeys(usage.PHASES, 0.0), **wanted}
    # Work after the clock was read for the last time belongs to phases, too.
    assert sum(outcome.phases.values()) == outcome.progress.seconds + 2.0 + 0.125


LATE = 4.0
"""Seconds after which a slow launch must be over: users wait for the end of a run."""


@pytest.mark.slow
def test_observers_see_the_progress_inside_a_long_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Seen()
    options = {"stop": "generations=20", "record.every": 20}
    run(options, archipelago=Slow(monkeypatch, seconds=0.5), others=[seen])
    assert [epoch.progress.generation for epoch in seen.epochs] == [0, 20]
    assert seen.between_epochs == [2, 4, 6, 8, 10, 12, 14, 16, 18]


@pytest.mark.parametrize("last", [20, 6])
def test_the_trace_has_a_row_for_each_second_inside_a_long_epoch(
    last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A generation has its rows once, also if the run ends there."""
    rows = list[Epoch]()
    recording = Recording(SimpleNamespace(epoch=rows.append), Failures(World(), None, Quiet))
    calling = Calling(lambda progress: progress.generation == last, World())
    options = {"stop": "generations=20", "record.every": 20}
    slow = Slow(monkeypatch, seconds=0.5)
    run(options, archipelago=slow, others=[calling, recording])
    assert [each.progress.generation for each in rows] == [*range(0, last + 1, 2)]
    assert all(each.measures for each in rows)


def test_a_launch_that_takes_long_is_halted() -> None:
    halted = Event()
    watch, began = Watch(halted.set, LIMITS.longest_launch), time.monotonic()
    with watch.until(lambda: False), pytest.raises(HaltedError), watch:
        assert halted.wait(LATE)
    assert time.monotonic() - began > 0.5, "a usual launch ends by itself"


def test_a_launch_that_must_end_is_halted_at_once() -> None:
    halted = Event()
    watch = Watch(halted.set, 1e9)
    with watch.until(lambda: True), pytest.raises(HaltedError), watch:
        assert halted.wait(LATE)


def test_the_host_is_not_halted_between_launches() -> None:
    halted = Event()
    watch = Watch(halted.set, LIMITS.longest_launch)
    with watch.until(lambda: True):
        with watch:
            pass
        assert not halted.wait(0.3)
    assert not watch.has_halted


@pytest.mark.parametrize("seconds", [1e-6, 0.01, 0.3, 5.0])
def test_the_next_launch_is_short_by_what_is_known(seconds: float) -> None:
    """Each generation takes `seconds`: launches grow step by step, up to half a second."""
    watch = Watch(lambda: None, LIMITS.longest_launch)
    for _ in range(12):
        before = watch.generations
        watch.launch_ended(before, before * seconds)
        assert 1 <= watch.generations <= 4 * before
        assert watch.generations == 1 or watch.generations * seconds <= 0.5
    assert watch.generations > 1 or seconds > 0.1


def test_a_callback_sees_each_second_of_a_long_epoch_and_may_end_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow, seen = Slow(monkeypatch, seconds=0.5), list[int]()

    def callback(progress: Progress) -> bool:
        seen.append(progress.generation)
        return progress.generation >= 8

    options = {"stop": "generations=90", "record.every": 90}
    outcome, _ = run(options, slow, [Calling(callback, World())])
    assert outcome.reason == "the callback returned True"
    assert seen == [0, 2, 4, 6, 8]


class Passing(FakeArchipelago):
    """Islands that skip all slots of a generation if the number of evaluations left is limited."""

    made = 10
    left: int | None = None

    def limit(self, left: int | None) -> None:
        self.left = left

    def advance(self, generations: int) -> None:
        super().advance(generations)
        self.made += 0 if self.left is not None else 10 * generations

    def measure(self) -> list[IslandMeasure]:
        return [each._replace(evaluations=self.made) for each in super().measure()]


def test_a_run_ends_although_islands_skip_the_evaluations_left() -> None:
    options = {"stop": "evaluations=95", "islands": 2, "population": 16, "record.every": 50}
    outcome, _ = run(options, archipelago=Passing())
    assert outcome.reason == "evaluation limit of 95 reached"
    assert outcome.progress.evaluations == 100
