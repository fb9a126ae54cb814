from __future__ import annotations

from typing import Any

import pytest
from fakes import FakeArchipelago, FakeProblem, Quiet

from islands.archipelago import IslandMeasure
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.run import epochs as module
from islands.run.epochs import Epoch, Outcome, Schedule, evolve, step_after, summarise
from islands.run.resolve import layers, resolve


def run(
    options: dict[str, Any],
    problem: FakeProblem,
    interruption: Any = Quiet,
    archipelago: FakeArchipelago | None = None,
) -> tuple[Outcome, FakeArchipelago, list[Epoch]]:
    archipelago, epochs = archipelago or FakeArchipelago(), list[Epoch]()
    spec = resolve(layers(options), problem)
    outcome = evolve(
        archipelago,  # type: ignore[arg-type]
        spec,
        problem,
        World(),
        epochs.append,
        interruption,
    )
    return outcome, archipelago, epochs


def test_epochs_end_at_records_at_migrations_and_at_the_last_generation() -> None:
    options = {"record.every": 50, "interval": 70, "stop": "generations=160"}
    outcome, archipelago, epochs = run(options, FakeProblem())
    assert [epoch.generation for epoch in epochs] == [0, 50, 70, 100, 140, 150, 160]
    assert archipelago.calls == [
        *("start", "advance 50", "advance 20", "migrate", "advance 30", "advance 40", "migrate"),
        *("advance 10", "advance 10"),
    ]
    assert outcome.reason == "160 generations done"
    assert outcome.progress == epochs[-1].progress


def test_islands_that_do_not_exchange_need_no_visit_for_it() -> None:
    for alone in ({"migration": "none"}, {"islands": 1}):
        options = {"interval": 7, "stop": "generations=100", **alone}
        _, archipelago, epochs = run(options, FakeProblem())
        assert [epoch.generation for epoch in epochs] == [0, 50, 100]
        assert "migrate" not in archipelago.calls


def test_a_migration_at_the_last_generation_takes_place() -> None:
    _, archipelago, _ = run({"interval": 20, "stop": "generations=20"}, FakeProblem())
    assert archipelago.calls == ["start", "advance 20", "migrate"]


@pytest.mark.parametrize(
    ("every", "interval", "last"), [(1, 1, 30), (3, 7, 210), (50, 200, 100), (200, 50, 250)]
)
def test_a_shorter_run_visits_what_a_longer_one_does(every: int, interval: int, last: int) -> None:
    options = {"record.every": every, "interval": interval}
    _, _, short = run({**options, "stop": f"generations={last}"}, FakeProblem())
    _, _, long = run({**options, "stop": f"generations={2 * last}"}, FakeProblem())
    generations = [epoch.generation for epoch in long]
    assert generations[: len(short)] == [epoch.generation for epoch in short]


def test_a_target_stops_at_the_first_epoch_that_reaches_it() -> None:
    outcome, archipelago, _ = run({"stop": ["target=930", "generations=900"]}, FakeProblem())
    assert outcome.progress.cost == 900
    assert archipelago.generation == 100
    assert outcome.reason == "cost 900 reached the target 930"


class Slow(FakeArchipelago):
    """Its generations take a time of their own, by a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> None:
        super().__init__()
        self.now, self.seconds = 5.0, seconds
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)

    def start(self) -> None:
        super().start()
        self.now += self.seconds

    def advance(self, generations: int) -> None:
        super().advance(generations)
        self.now += generations * self.seconds


def test_time_ends_a_run_of_slow_generations_inside_an_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow(monkeypatch, seconds=0.1)
    outcome, _, epochs = run({"stop": "seconds=2", "interval": 30}, FakeProblem(), archipelago=slow)
    # Half a second holds four generations, as the number is a power of two.
    assert slow.calls == ["start", *["advance 4"] * 5]
    assert [epoch.generation for epoch in epochs] == [0, 20]
    assert outcome.reason == "2.1 s is at least 2 s"
    assert (outcome.progress.generation, outcome.interrupted) == (20, False)


def test_small_steps_change_neither_rows_nor_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"stop": "generations=60", "interval": 20, "record.every": 50}
    slow, fast = Slow(monkeypatch, seconds=0.06), FakeArchipelago()
    _, _, in_steps = run(options, FakeProblem(), archipelago=slow)
    _, _, whole = run(options, FakeProblem(), archipelago=fast)
    assert [each.measures for each in in_steps] == [each.measures for each in whole]
    assert fast.calls[1:4] == ["advance 20", "migrate", "advance 20"]
    assert slow.calls[1:5] == ["advance 8", "advance 8", "advance 4", "migrate"]


def test_a_target_met_inside_an_epoch_waits_for_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow(monkeypatch, seconds=1.0)
    outcome, _, _ = run({"stop": "target=990"}, FakeProblem(), archipelago=slow)
    assert outcome.progress.generation == 50


@pytest.mark.parametrize(
    ("generations", "seconds", "step"),
    [(50, 25.0, 1), (50, 2.5, 8), (50, 0.5, 32), (50, 60.0, 1), (1, 0.0, 1 << 28)],
)
def test_a_step_takes_at_most_half_a_second(generations: int, seconds: float, step: int) -> None:
    before = summarise([measure(0, 5)], 100, 7.0, FakeProblem())
    assert step_after(before, 100 + generations, 7.0 + seconds) == step


def test_a_signal_ends_a_run_of_slow_generations_inside_an_epoch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow = Slow(monkeypatch, seconds=0.5)

    class AfterFourSeconds:
        @property
        def requested(self) -> bool:
            return slow.now >= 9

    outcome, _, epochs = run(
        {"stop": "generations=900"}, FakeProblem(), AfterFourSeconds(), archipelago=slow
    )
    assert outcome.interrupted
    assert [epoch.generation for epoch in epochs] == [0, 7]


def test_an_interruption_ends_the_run_at_the_next_epoch() -> None:
    class Later:
        asked = 0

        @property
        def requested(self) -> bool:
            self.asked += 1
            return self.asked == 3

    outcome, archipelago, _ = run({"stop": "generations=900"}, FakeProblem(), Later())
    assert outcome.interrupted
    assert archipelago.generation == 100


def test_schedules_never_stand_still() -> None:
    schedule = Schedule(migration_interval=None, record_every=10, last=25)
    assert [schedule.next_visit(g) for g in (0, 9, 10, 20, 24, 25)] == [10, 10, 20, 25, 25, 30]


def measure(island: int, best: int, mean: float = 0.0, evaluations: int = 1) -> IslandMeasure:
    return IslandMeasure(island, best, mean, 0, 10 + island, evaluations)


def found(cost: int, island: int, generation: int) -> IslandMeasure:
    return IslandMeasure(island, cost, 0.0, 0, generation, 1)


def test_of_equal_bests_the_first_counts_and_of_these_the_lowest_island() -> None:
    islands = [found(5, 3, 11), found(5, 2, 10), found(5, 1, 10), found(5, 0, 12), found(9, 4, 1)]
    progress = summarise(islands, 30, 1.5, FakeProblem())
    assert (progress.cost, progress.island, progress.best_generation) == (5, 1, 10)


def test_the_best_is_found_once_whatever_islands_do_with_it() -> None:
    problem = FakeProblem()
    first = summarise([found(7, 0, 3), found(5, 1, 20)], 30, 1.5, problem)
    # Island 0 receives it, and island 1 has restarted.
    second = summarise([found(5, 0, 31), found(5, 1, 40)], 50, 2.5, problem, first)
    assert (second.cost, second.island, second.best_generation) == (5, 1, 20)
    third = summarise([found(4, 0, 60), found(5, 1, 40)], 70, 3.5, problem, second)
    assert (third.cost, third.island, third.best_generation) == (4, 0, 60)


def test_a_profit_that_grows_is_found_anew() -> None:
    problem = FakeProblem(maximise=True)
    first = summarise([found(-5, 0, 20)], 30, 1.5, problem)
    second = summarise([found(-5, 0, 40)], 50, 2.5, problem, first)
    third = summarise([found(-6, 0, 60)], 70, 3.5, problem, second)
    assert [each.best_generation for each in (first, second, third)] == [20, 20, 60]


def test_restarts_do_not_put_off_the_end_of_a_run_without_progress() -> None:
    class Restarting(FakeArchipelago):
        def measure(self) -> list[IslandMeasure]:
            return [found(7, i, self.generation // 100 * 100) for i in self.mine]

    options = {"reset": 100, "stop": ["stagnation=200", "generations=5000"]}
    outcome, _, _ = run(options, FakeProblem(), archipelago=Restarting())
    assert outcome.reason == "no better solution for 200 generations"


def test_all_islands_together() -> None:
    islands = [measure(0, 7, mean=10.0, evaluations=3), measure(1, 8, mean=20.0, evaluations=4)]
    progress = summarise(islands, 30, 1.5, FakeProblem(BestKnown(5, "optimal", "a list")))
    assert (progress.mean, progress.evaluations, progress.generation) == (15.0, 7, 30)
    assert (progress.best_known, progress.gap, progress.seconds) == (5, 40.0, 1.5)


def test_a_maximising_problem_is_shown_in_its_own_sense() -> None:
    known = BestKnown(10, "optimal", "a list")
    islands = [measure(0, -7, mean=-4.0), measure(1, -8, mean=-2.0)]
    progress = summarise(islands, 30, 1.5, FakeProblem(known, maximise=True))
    assert (progress.cost, progress.island, progress.mean, progress.gap) == (8, 1, 3.0, 20.0)
