from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fakes import FakeProblem
from numpy.typing import NDArray

from islands.archipelago.measure import IslandMeasure
from islands.configuration.stop import parse
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.progress.progress import Progress, is_better
from islands.progress.tally import NO_SOLUTION, StopRequests, Tally, summarise
from islands.run import request as request


def measured(cost: int, island: int, generation: int, total: int = 0) -> IslandMeasure:
    return IslandMeasure(island, cost, total, 0.0, 0, generation, 100 + island)


def progress_of(
    islands: list[IslandMeasure],
    generation: int = 30,
    problem: FakeProblem | None = None,
    before: Progress | None = None,
) -> Progress:
    return summarise(Tally.of(islands), generation, 1.5, 10, problem or FakeProblem(), before)


class Ranks(World):
    """Rank 0 of a world in which the other ranks share the given numbers."""

    def __init__(self, *others: list[int]) -> None:
        super().__init__()
        self.others = others

    def allgather_numbers(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([numbers.tolist(), *self.others])


def test_among_equal_costs_the_earliest_and_then_the_lowest_island_counts() -> None:
    islands = [
        measured(5, 3, 11),
        measured(5, 2, 10),
        measured(5, 1, 10),
        measured(5, 0, 12),
        measured(9, 4, 1),
    ]
    progress = progress_of(islands)
    assert (progress.cost, progress.island, progress.best_generation) == (5, 1, 10)


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_the_progress_does_not_depend_on_the_number_of_ranks(cut: int) -> None:
    # Larger than the integers that a float represents exactly.
    totals = [2**53 + 1, 3, -(2**53), 5]
    islands = [measured(5 + i % 2, i, 11 - i % 3, totals[i]) for i in range(4)]
    ranks = [Tally.of(islands[:cut]), Tally.of(islands[cut:])]
    assert Tally.merged(ranks) == Tally.merged(ranks[::-1]) == Tally.of(islands)


def test_all_ranks_get_the_same_stop_requests() -> None:
    islands = [measured(7, 0, 3, 10), measured(5, 1, 4, 20), measured(5, 2, 4, 30)]
    other = Tally.of(islands[2:])
    late = 99_000_000_000
    row = [4, late, other.best, other.best_generation, 2, other.evaluations, 0, 30, 1, 0, 0]
    ranks = Ranks(row)
    tally, calls = Tally.of(islands[:2]).of_all_ranks(ranks, 2, 1.25)
    assert tally == Tally.of(islands)
    # The signals of all ranks, and the time of rank 0.
    assert calls == (6, 1.25, True)
    assert StopRequests.of_all_ranks(Ranks([4, late], [1, 0]), 0, 2.5) == (5, 2.5, True)
    abandoned = StopRequests.of_all_ranks(Ranks([4, late]), 1, 2.5, is_complete=False)
    assert abandoned == (5, 2.5, False)


def test_the_best_remains_attributed_to_the_island_that_found_it() -> None:
    first = progress_of([measured(7, 0, 3), measured(5, 1, 20)])
    # Island 0 has received it, and island 1 has restarted.
    second = progress_of([measured(5, 0, 31), measured(5, 1, 40)], 50, before=first)
    assert (second.cost, second.island, second.best_generation) == (5, 1, 20)
    third = progress_of([measured(4, 0, 60), measured(5, 1, 40)], 70, before=second)
    assert (third.cost, third.island, third.best_generation) == (4, 0, 60)


def test_a_larger_profit_is_a_new_best() -> None:
    problem = FakeProblem(maximise=True)
    first = progress_of([measured(-5, 0, 20)], 30, problem)
    second = progress_of([measured(-5, 0, 40)], 50, problem, first)
    third = progress_of([measured(-6, 0, 60)], 70, problem, second)
    assert [each.best_generation for each in (first, second, third)] == [20, 20, 60]


def test_sums_cover_all_islands() -> None:
    problem = FakeProblem(BestKnown(5, "optimal", "a list"))
    progress = progress_of(
        [measured(7, 0, 10, total=100), measured(8, 1, 11, total=200)], problem=problem
    )
    assert (progress.mean, progress.evaluations, progress.generation) == (15.0, 201, 30)
    assert (progress.best_known, progress.gap, progress.seconds) == (5, 40.0, 1.5)


def test_sums_of_costs_may_exceed_64_bits() -> None:
    islands = [measured(2**60, i, 0, total=2**60 * 2**11) for i in range(8)]
    tally = Tally.merged([Tally.of(islands[:5]), Tally.of(islands[5:])])
    assert tally.total == 8 * 2**71
    assert max(tally.total_high, tally.total_low) < 2**63


def unsolved(cost: int | None, island: int, generation: int) -> IslandMeasure:
    return IslandMeasure(island, cost, 10, 0.0, 0, generation, 5)


def progress_among(*measures: IslandMeasure, before: Progress | None = None) -> Progress:
    problem = FakeProblem(BestKnown(4, "optimal", ""))
    ranks = [Tally.of([measure]) for measure in measures]
    return summarise(Tally.merged(ranks), 30, 1.5, 10, problem, before)


def test_islands_without_a_solution_do_not_hide_those_with_one() -> None:
    assert Tally.of([unsolved(None, 0, 0)]).best == NO_SOLUTION
    progress = progress_among(unsolved(None, 0, 0), unsolved(8, 1, 20), unsolved(None, 2, 0))
    assert (progress.cost, progress.island, progress.best_generation) == (8, 1, 20)
    assert progress.gap == 100.0


def test_without_a_solution_there_is_no_island() -> None:
    first = progress_among(unsolved(None, 0, 3), unsolved(None, 1, 5))
    assert (first.cost, first.island, first.best_generation, first.gap) == (None, None, 0, None)
    assert (first.mean, first.evaluations) == (1.0, 10)
    second = progress_among(unsolved(None, 0, 3), unsolved(9, 1, 25), before=first)
    assert (second.cost, second.island, second.best_generation) == (9, 1, 25)


def test_any_cost_is_better_than_none() -> None:
    for maximise in (False, True):
        assert is_better(0, None, maximise=maximise)
        assert not is_better(None, 0, maximise=maximise)
        assert not is_better(None, None, maximise=maximise)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("target=1e9", None),
        ("gap=1000%", None),
        ("best-known", None),
        ("optimum", None),
        ("stagnation=30", "no improvement for 30 generations"),
        ("stagnation=31", None),
        ("generations=30", "30 generations done"),
    ],
)
@pytest.mark.parametrize("maximise", [False, True])
def test_criteria_of_costs_are_not_satisfied(text: str, reason: str | None, maximise: bool) -> None:
    progress = replace(progress_among(unsolved(None, 0, 0)), maximise=maximise)
    assert parse(text).reason(progress) == reason
