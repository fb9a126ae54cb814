from __future__ import annotations

import numpy as np
import pytest
from fakes import FakeProblem
from numpy.typing import NDArray

from islands.archipelago.measure import IslandMeasure
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.progress.progress import Progress
from islands.progress.tally import StopRequests, Tally, summarise


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


def test_a_profit_is_shown_as_positive() -> None:
    problem = FakeProblem(BestKnown(10, "optimal", "a list"), maximise=True)
    progress = progress_of(
        [measured(-7, 0, 1, total=-40), measured(-8, 1, 1, total=-20)], problem=problem
    )
    assert (progress.cost, progress.island, progress.mean, progress.gap) == (8, 1, 3.0, 20.0)


def test_sums_of_costs_may_exceed_64_bits() -> None:
    islands = [measured(2**60, i, 0, total=2**60 * 2**11) for i in range(8)]
    tally = Tally.merged([Tally.of(islands[:5]), Tally.of(islands[5:])])
    assert tally.total == 8 * 2**71
    assert max(tally.total_high, tally.total_low) < 2**63
