"""Ranks that do not wait for each other, on fake islands of different speed."""

import time
from typing import Any

import pytest
from epochs_for_tests import Seen
from fakes import FakeArchipelago, FakeProblem, Quiet

from islands.archipelago.measure import IslandMeasure
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.asynchronous import AsyncLoop
from islands.engine.signals import INTERRUPT, UNWRITABLE
from islands.parallel import world
from islands.problems.real_costs import mean_of
from islands.problems.scale import Scale
from islands.progress.progress import INTERRUPTED, Outcome

pytestmark = pytest.mark.mpi(min_size=2)


class Uneven(FakeArchipelago):
    """An island of each rank; the costs of the last one are lowest, and others are far ahead."""

    def __init__(self, rank: int, size: int) -> None:
        super().__init__(range(rank, rank + 1))
        self.is_last = rank == size - 1

    def advance(self, generations: int) -> None:
        super().advance(generations)
        time.sleep(0.002 * generations if self.is_last else 0)

    def measure(self) -> list[IslandMeasure]:
        best = 500 if self.is_last else 1000
        return [
            each._replace(best=best - self.generation, real_total=0.25)
            for each in super().measure()
        ]


def run(stop: str, signals: int = 0, problem: FakeProblem | None = None) -> tuple[Outcome, Any]:
    """Run on all ranks; the last one receives `signals` after ten generations."""
    ranks = world()
    mine, seen, interruption = Uneven(ranks.rank, ranks.size), Seen(), Quiet()

    class Signalled(Seen):
        def epoch(self, epoch: Any) -> None:
            if mine.is_last and mine.generation >= 10:
                interruption.requested = signals

    problem = problem or FakeProblem()
    options = {"islands": ranks.size, "population": 16, "interval": 5, "stop": stop}
    evolution: Any = (mine, resolve(Request.of(options), problem), ranks, interruption)
    outcome = AsyncLoop(*evolution, [seen, Signalled()]).run()
    said = (outcome.progress, outcome.reason, outcome.interrupted, outcome.suspended)
    assert ranks.allgather(said) == [said] * ranks.size
    generations = [epoch.progress.generation for epoch in seen.epochs]
    assert generations == sorted({0, *range(5, mine.generation, 5), mine.generation})
    return outcome, ranks.allgather(mine.generation)


def test_each_rank_does_its_generations_before_the_run_ends() -> None:
    outcome, generations = run("generations=42")
    assert set(generations) == {42}
    assert outcome.reason == "42 generations done"
    assert outcome.progress.generation == 42
    assert outcome.progress.evaluations == 430 * len(generations)
    assert outcome.progress.cost == 458
    assert outcome.progress.island == len(generations) - 1


def test_what_one_rank_has_found_ends_the_run_on_all() -> None:
    outcome, generations = run("target=450")
    assert outcome.reason == "target 450 reached"
    assert outcome.progress.cost <= 450
    assert outcome.progress.generation == generations[-1] < min(generations[:-1])


@pytest.mark.parametrize(
    ("signals", "reason"), [(INTERRUPT, INTERRUPTED), (UNWRITABLE, "a file cannot be written")]
)
def test_a_signal_to_one_rank_interrupts_the_run(signals: int, reason: str) -> None:
    outcome, _ = run("seconds=60", signals)
    assert outcome.reason == reason
    assert outcome.interrupted
    assert not outcome.suspended


def test_sums_of_real_costs_are_exact() -> None:
    class RealProblem(FakeProblem):
        scale = Scale(real=True)

    outcome, _ = run("generations=5", problem=RealProblem())
    assert outcome.progress.mean == mean_of(0.25, 16)
