from __future__ import annotations

import threading
from typing import Any

import pytest
from epochs_for_tests import Slow, run
from fakes import FakeArchipelago, FakeProblem, Quiet

from islands.archipelago.measure import IslandMeasure
from islands.configuration.resolve import layers, resolve
from islands.errors import InputError
from islands.parallel import World
from islands.progress.progress import Progress
from islands.run import pace as pace
from islands.run.loop import Loop
from islands.run.pace import step_after
from islands.testing.ranks import on_ranks


@pytest.fixture
def complete_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a step last a whole epoch, however slow this machine is."""
    monkeypatch.setattr(pace, "_STEP_SECONDS", 1e9)


@pytest.mark.usefixtures("complete_epochs")
def test_epochs_end_at_records_migrations_and_the_last_generation() -> None:
    options = {"record.every": 50, "interval": 70, "stop": "generations=160"}
    outcome, archipelago, epochs = run(options, FakeProblem())
    assert [epoch.progress.generation for epoch in epochs] == [0, 50, 70, 100, 140, 150, 160]
    assert archipelago.calls == [
        *("start", "advance 50", "advance 20", "migrate", "advance 30", "advance 40", "migrate"),
        *("advance 10", "advance 10"),
    ]
    assert outcome.reason == "160 generations done"
    assert outcome.progress == epochs[-1].progress


def test_without_migration_epochs_ignore_its_interval() -> None:
    for alone in ({"migration": "none"}, {"islands": 1}):
        options = {"interval": 7, "stop": "generations=100", **alone}
        _, archipelago, epochs = run(options, FakeProblem())
        assert [epoch.progress.generation for epoch in epochs] == [0, 50, 100]
        assert "migrate" not in archipelago.calls


def test_islands_also_migrate_at_the_last_generation() -> None:
    _, archipelago, _ = run({"interval": 20, "stop": "generations=20"}, FakeProblem())
    # A machine that stands still for a moment divides the generations into more steps.
    start, *steps, migrate = archipelago.calls
    assert (start, migrate) == ("start", "migrate")
    assert sum(int(step.removeprefix("advance ")) for step in steps) == 20


@pytest.mark.parametrize(
    ("every", "interval", "last"), [(1, 1, 30), (3, 7, 210), (50, 200, 100), (200, 50, 250)]
)
def test_the_epochs_of_a_shorter_run_are_those_of_a_longer_one(
    every: int, interval: int, last: int
) -> None:
    options = {"record.every": every, "interval": interval}
    _, _, short = run({**options, "stop": f"generations={last}"}, FakeProblem())
    _, _, long = run({**options, "stop": f"generations={2 * last}"}, FakeProblem())
    generations = [epoch.progress.generation for epoch in long]
    assert generations[: len(short)] == [epoch.progress.generation for epoch in short]


def test_a_target_stops_at_the_first_epoch_that_reaches_it() -> None:
    outcome, archipelago, _ = run({"stop": ["target=930", "generations=900"]}, FakeProblem())
    assert outcome.progress.cost == 900
    assert archipelago.generation == 100
    assert outcome.reason == "target 930 reached"


def test_time_ends_a_run_of_slow_generations_inside_an_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow(monkeypatch, seconds=0.1)
    outcome, _, epochs = run({"stop": "seconds=2", "interval": 30}, FakeProblem(), archipelago=slow)
    # Half a second contains four generations, as the number is a power of two.
    assert slow.calls == ["start", *["advance 4"] * 5]
    assert [epoch.progress.generation for epoch in epochs] == [0, 20]
    assert outcome.reason == "time limit of 2 s reached"
    assert (outcome.progress.generation, outcome.interrupted) == (20, False)


def test_a_run_ends_just_after_its_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch, seconds=0.5)
    outcome, _, _ = run({"stop": ["seconds=2", "seconds=9"]}, FakeProblem(), archipelago=slow)
    # Generation 0 takes half a second as well.
    assert (outcome.progress.generation, outcome.progress.seconds) == (3, 2.0)
    assert outcome.reason == "time limit of 2 s reached"


def test_small_steps_change_neither_rows_nor_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"stop": "generations=60", "interval": 20, "record.every": 50}
    slow, fast = Slow(monkeypatch, seconds=0.06), FakeArchipelago()
    _, _, in_steps = run(options, FakeProblem(), archipelago=slow)
    _, _, whole = run(options, FakeProblem(), archipelago=fast)
    assert [each.measures for each in in_steps] == [each.measures for each in whole]
    assert fast.calls[1:4] == ["advance 20", "migrate", "advance 20"]
    assert slow.calls[1:5] == ["advance 8", "advance 8", "advance 4", "migrate"]


def test_the_seconds_of_all_abandoned_generations_are_added(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Abandoning(Slow):
        may_take_long = True

        def attempt(self, generations: int) -> bool:
            self.calls.append(f"attempt {generations}")
            if self.calls.count("undo") < 2:  # a signal that another handler receives
                self.now += 1.5
                return False
            self.advance(generations)
            return True

        def undo(self) -> None:
            self.calls.append("undo")

    slow = Abandoning(monkeypatch, seconds=2)
    outcome, _, epochs = run({"stop": "generations=1"}, FakeProblem(), archipelago=slow)
    assert slow.calls[:5] == ["start", *["attempt 1", "undo"] * 2]
    assert outcome.abandoned_seconds == 3.0
    assert outcome.progress.seconds == 2 + 2 * 1.5 + 2
    assert [epoch.progress.generation for epoch in epochs][-1] == 1


def test_a_target_reached_inside_an_epoch_ends_the_run_at_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow(monkeypatch, seconds=1.0)
    outcome, _, _ = run({"stop": "target=990"}, FakeProblem(), archipelago=slow)
    assert outcome.progress.generation == 50


def test_steps_grow_after_a_slow_generation_0(monkeypatch: pytest.MonkeyPatch) -> None:
    class Warming(Slow):
        def start(self) -> None:
            super().start()
            self.now += 10

    slow = Warming(monkeypatch, seconds=0.1)
    run(
        {"stop": "generations=21", "record.every": 1000, "migration": "none"},
        FakeProblem(),
        archipelago=slow,
    )
    assert slow.calls == ["start", "advance 1", *["advance 4"] * 5]


def test_a_start_that_fails_on_one_rank_fails_on_all() -> None:
    class Failing(FakeArchipelago):
        def start(self) -> None:
            if self.mine[0] == 1:
                raise InputError("short.tour: No such file")
            super().start()

    messages = list[str]()

    def one(world: World) -> None:
        spec = resolve(layers({"stop": "generations=1", "islands": 2}), FakeProblem())
        islands: Any = Failing(range(world.rank, world.rank + 1))
        interruption: Any = Quiet
        with pytest.raises(InputError, match=r"short\.tour") as caught:
            Loop(islands, spec, FakeProblem(), world, interruption).run()
        messages.append(str(caught.value))

    on_ranks(2, one)
    assert messages == ["[rank 1 of 2] short.tour: No such file"] * 2


@pytest.mark.parametrize(
    ("generations", "seconds", "step"),
    [(50, 25.0, 1), (50, 2.5, 8), (50, 0.5, 32), (50, 60.0, 1), (1, 0.0, 1 << 28)],
)
def test_a_step_takes_at_most_half_a_second(generations: int, seconds: float, step: int) -> None:
    before = Progress(100, 1, 7.0, 5, 0, 90, 5.0)
    assert step_after(before, 100 + generations, 7.0 + seconds, 0) == step


def test_the_first_step_contains_one_generation_with_local_search() -> None:
    """Generation 0 has no local search, and may be a thousand times faster than the next."""
    assert [step_after(None, 0, 1e-6, every) for every in (1, 10)] == [1, 10]
    before = Progress(100, 1, 7.0, 5, 0, 90, 5.0)
    assert step_after(before, 150, 57.0, 10) == 10
    assert step_after(None, 0, 1.0 / 64, 0) == 32


def test_a_signal_ends_a_run_of_slow_generations_inside_an_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow(monkeypatch, seconds=0.5)

    class AfterFourSeconds(Quiet):
        @property
        def requested(self) -> bool:
            return slow.now >= 9

    outcome, _, epochs = run(
        {"stop": "generations=900"}, FakeProblem(), AfterFourSeconds(), archipelago=slow
    )
    assert outcome.interrupted
    assert [epoch.progress.generation for epoch in epochs] == [0, 7]


@pytest.mark.usefixtures("complete_epochs")
def test_an_interruption_ends_the_run_at_the_next_epoch() -> None:
    class Later(Quiet):
        asked = 0

        @property
        def requested(self) -> bool:
            # The alarm thread reads this too.
            self.asked += threading.current_thread() is threading.main_thread()
            return self.asked == 3

    outcome, archipelago, _ = run({"stop": "generations=900"}, FakeProblem(), Later())
    assert outcome.interrupted
    assert archipelago.generation == 100


def test_arrivals_belong_to_the_epoch_of_their_migration() -> None:
    _, _, epochs = run({"interval": 20, "stop": "generations=60"}, FakeProblem())
    came = [(e.progress.generation, e.arrivals.number) for e in epochs if e.arrivals is not None]
    assert came == [(20, 1), (40, 2), (60, 3)]


def test_restarts_do_not_delay_the_stagnation_criterion() -> None:
    class Restarting(FakeArchipelago):
        def measure(self) -> list[IslandMeasure]:
            since = self.generation // 100 * 100
            return [IslandMeasure(i, 7, 0, 0.0, 0, since, 1) for i in self.mine]

    options = {"reset": 100, "stop": ["stagnation=200", "generations=5000"]}
    outcome, _, _ = run(options, FakeProblem(), archipelago=Restarting())
    assert outcome.reason == "no improvement for 200 generations"
