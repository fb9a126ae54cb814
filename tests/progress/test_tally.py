"""Progress of all islands, and costs up to the largest double."""

import json
import sys
import warnings
from dataclasses import replace
from fractions import Fraction
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from fakes import FakeProblem
from numpy.typing import NDArray
from results_for_tests import result

import islands
from islands import statistics
from islands.archipelago.measure import IslandMeasure
from islands.backends.base import Backend
from islands.cells.summary import Summary, table
from islands.configuration.stop import parse
from islands.display.screen import row
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.problems.scale import Scale
from islands.progress.progress import Progress, is_better
from islands.progress.tally import NO_SOLUTION, StopRequests, Tally, summarise
from islands.statistics import LARGEST


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
        self.size, self.others = 1 + len(others), others

    def allgather_numbers(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([numbers.tolist(), *self.others])


def test_among_equal_costs_the_earliest_and_then_the_lowest_island_counts() -> None:
    rows = [(5, 3, 11), (5, 2, 10), (5, 1, 10), (5, 0, 12), (9, 4, 1)]
    progress = progress_of([measured(*row) for row in rows])
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


def test_sums_of_costs_may_exceed_64_bits() -> None:
    islands = [measured(2**60, i, 0, total=2**60 * 2**11) for i in range(8)]
    tally = Tally.merged([Tally.of(islands[:5]), Tally.of(islands[5:])])
    assert tally.total == 8 * 2**71


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


HUGE = 1.7e308
MOST = sys.float_info.max


@pytest.mark.slow
@pytest.mark.parametrize("maximise", [False, True])
@pytest.mark.parametrize("best_known", [None, 0.0, 3.0, -HUGE, HUGE])
def test_a_run_with_huge_costs_ends_well(maximise: bool, best_known: float | None) -> None:
    def batch(orders: Any) -> Any:
        return np.where(orders[:, 0] % 2 == 0, -HUGE, HUGE)

    problem = islands.permutation(12, batch=batch, maximise=maximise, best_known=best_known)
    few: Any = {"islands": 4, "population": 16, "generations": 5, "backend": "cpu", "threads": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = islands.solve(problem, record={"every": 1}, **few)
    assert found.cost == (HUGE if maximise else -HUGE)
    json.loads(found.to_json(), parse_constant=pytest.fail)
    means = found.trace()["mean"].to_numpy()
    # Costs of both signs, so that a sum of them exceeds all doubles on the way.
    assert np.isfinite(means).all()
    steps = means / HUGE * 16
    assert steps == pytest.approx(np.round(steps))
    assert (np.round(steps) % 2 == 0).all()


@pytest.mark.parametrize("factor", [1.0, 3e-310, HUGE / 11])
def test_means_are_those_of_the_population(backend: Backend, factor: float) -> None:
    problem = islands.permutation(12, batch=lambda orders: (orders[:, 0] - 5.5) * factor)
    solver = islands.Solver(
        problem, algorithm="ga", islands=2, population=10, mutation_rate=0.5, backend=backend.name
    )
    solver.evolve(1)
    for measure, genomes in zip(solver._archipelago.measure(), solver.populations(), strict=True):
        firsts = genomes[:, 0].tolist()
        exact = sum(Fraction((each - 5.5) * factor) for each in firsts) / len(firsts)
        assert measure.mean == pytest.approx(float(exact), rel=1e-14, abs=1e-303)


def test_moments_of_huge_numbers() -> None:
    values = [HUGE, -HUGE, HUGE, MOST]
    assert statistics.mean(values) == pytest.approx(float(sum(map(Fraction, values)) / 4))
    assert statistics.mean([0.1, 0.2, 0.4]) == fmean([0.1, 0.2, 0.4])
    assert statistics.deviation([HUGE, HUGE]) == 0.0
    assert statistics.deviation([HUGE, -HUGE]) is None
    assert statistics.deviation([HUGE]) is None


def test_summaries_and_rows_of_huge_costs() -> None:
    runs = [result(cost=cost, best_known=None, gap=None) for cost in (HUGE, -HUGE, HUGE)]
    found = Summary.of(runs, Scale(maximise=False))
    assert found.mean == pytest.approx(HUGE / 3)
    assert found.standard_deviation is None
    assert max(map(len, table([found]).split("\n"))) < 140
    progress = Progress(5, 320, 1.0, -HUGE, 0, 3, HUGE, gap=-LARGEST)
    assert len(row(progress, None)) < 110
