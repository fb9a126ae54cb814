from __future__ import annotations

from typing import Any

import pytest
from fakes import FakeArchipelago, FakeProblem, Quiet

from islands.archipelago import IslandMeasure
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.run.epochs import Epoch, Outcome, Schedule, evolve, summarise
from islands.run.resolve import layers, resolve


def run(
    options: dict[str, Any], problem: FakeProblem, interruption: Any = Quiet
) -> tuple[Outcome, FakeArchipelago, list[Epoch]]:
    archipelago, epochs = FakeArchipelago(), list[Epoch]()
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


def test_of_equal_bests_the_lowest_island_counts() -> None:
    islands = [measure(2, 5), measure(1, 5), measure(0, 9)]
    progress = summarise(islands, 30, 1.5, FakeProblem())
    assert (progress.cost, progress.island, progress.best_generation) == (5, 1, 11)


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
