from __future__ import annotations

import numpy as np
import pytest
from fakes import FakeProblem
from numpy.typing import NDArray

from islands.archipelago.measure import IslandMeasure
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.progress.progress import Progress
from islands.progress.tally import Calls, Tally, summarise


def found(cost: int, island: int, generation: int, total: int = 0) -> IslandMeasure:
    return IslandMeasure(island, cost, total, 0.0, 0, generation, 100 + island)


def together(
    islands: list[IslandMeasure],
    generation: int = 30,
    problem: FakeProblem | None = None,
    before: Progress | None = None,
) -> Progress:
    return summarise(Tally.of(islands), generation, 1.5, 10, problem or FakeProblem(), before)


class Ranks(World):
    """Rank 0 of several, of which the others say what is given."""

    def __init__(self, *others: list[int]) -> None:
        super().__init__()
        self.others = others

    def share(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([numbers.tolist(), *self.others])


def test_of_equal_bests_the_first_counts_and_of_these_the_lowest_island() -> None:
    islands = [found(5, 3, 11), found(5, 2, 10), found(5, 1, 10), found(5, 0, 12), found(9, 4, 1)]
    progress = together(islands)
    assert (progress.cost, progress.island, progress.best_generation) == (5, 1, 10)


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_the_progress_does_not_depend_on_how_islands_are_dealt(cut: int) -> None:
    # Beyond the whole numbers that a float holds.
    totals = [2**53 + 1, 3, -(2**53), 5]
    islands = [found(5 + i % 2, i, 11 - i % 3, totals[i]) for i in range(4)]
    ranks = [Tally.of(islands[:cut]), Tally.of(islands[cut:])]
    assert Tally.together(ranks) == Tally.together(ranks[::-1]) == Tally.of(islands)


def test_all_ranks_are_told_the_same() -> None:
    islands = [found(7, 0, 3, 10), found(5, 1, 4, 20), found(5, 2, 4, 30)]
    other = Tally.of(islands[2:])
    late = 99_000_000_000
    ranks = Ranks([4, late, other.best, other.best_generation, 2, other.evaluations, 0, 30, 1])
    tally, calls = Tally.of(islands[:2]).shared(ranks, 2, 1.25)
    assert tally == Tally.of(islands)
    # The signals of all ranks, and the clock of rank 0.
    assert calls == (6, 1.25, True)
    assert Calls.shared(Ranks([4, late], [1, 0]), 0, 2.5) == (5, 2.5, True)
    gave_up = Calls.shared(Ranks([4, late]), 1, 2.5, is_whole=False)
    assert gave_up == (5, 2.5, False)


def test_the_best_is_found_once_whatever_islands_do_with_it() -> None:
    first = together([found(7, 0, 3), found(5, 1, 20)])
    # Island 0 receives it, and island 1 has restarted.
    second = together([found(5, 0, 31), found(5, 1, 40)], 50, before=first)
    assert (second.cost, second.island, second.best_generation) == (5, 1, 20)
    third = together([found(4, 0, 60), found(5, 1, 40)], 70, before=second)
    assert (third.cost, third.island, third.best_generation) == (4, 0, 60)


def test_a_profit_that_grows_is_found_anew() -> None:
    problem = FakeProblem(maximise=True)
    first = together([found(-5, 0, 20)], 30, problem)
    second = together([found(-5, 0, 40)], 50, problem, first)
    third = together([found(-6, 0, 60)], 70, problem, second)
    assert [each.best_generation for each in (first, second, third)] == [20, 20, 60]


def test_all_islands_together() -> None:
    problem = FakeProblem(BestKnown(5, "optimal", "a list"))
    progress = together([found(7, 0, 10, total=100), found(8, 1, 11, total=200)], problem=problem)
    assert (progress.mean, progress.evaluations, progress.generation) == (15.0, 201, 30)
    assert (progress.best_known, progress.gap, progress.seconds) == (5, 40.0, 1.5)


def test_a_maximising_problem_is_shown_in_its_own_sense() -> None:
    problem = FakeProblem(BestKnown(10, "optimal", "a list"), maximise=True)
    progress = together([found(-7, 0, 1, total=-40), found(-8, 1, 1, total=-20)], problem=problem)
    assert (progress.cost, progress.island, progress.mean, progress.gap) == (8, 1, 3.0, 20.0)


def test_sums_of_costs_may_take_more_than_64_bits() -> None:
    islands = [found(2**60, i, 0, total=2**60 * 2**11) for i in range(8)]
    tally = Tally.together([Tally.of(islands[:5]), Tally.of(islands[5:])])
    assert tally.total == 8 * 2**71
    assert max(tally.total_high, tally.total_low) < 2**63
