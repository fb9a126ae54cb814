"""The objective of the knapsack problem, infeasible subsets, limits of numbers, and utilities."""

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from colonies_for_tests import begun
from numpy_mkp import KERNEL, evaluate_choices, evaluated, random_choices
from problems_for_tests import knapsack
from programs_for_tests import for_gpu, require_machine_code

import islands
from islands.backends.base import Backend, Block
from islands.encodings import ENCODINGS
from islands.errors import RunError
from islands.problems import load
from islands.problems.mkp import PENALTIES, WAYS, Mkp, MkpSettings
from islands.problems.utilities import UTILITIES, by_difference, by_ratio, orders, prices_of, varied


def assert_same(
    backend: Backend, problem: Mkp, choices: Any, threads: int, child: int = 0, generation: int = 5
) -> Any:
    """Compare choices after evaluation, and their costs, with plain Python; return the choices."""
    seen, costs = evaluate_choices(backend, problem, choices, threads, child, generation)
    for row, choice in enumerate(choices):
        wanted, cost = evaluated(problem, choice, 7, (row, generation * (row % 2), row), child)
        assert costs[row] == cost
        np.testing.assert_array_equal(seen[row], wanted)
    return seen


@pytest.mark.parametrize(("way", "fit_first"), [*((way, False) for way in WAYS), ("linear", True)])
@pytest.mark.parametrize(("size", "threads"), [((1, 1), 32), ((32, 5), 32), ((270, 37), 128)])
def test_evaluation_equals_plain_python(
    backend: Backend, size: tuple[int, int], threads: int, way: str, fit_first: bool
) -> None:
    problem = knapsack(*size).adjusted(MkpSettings(infeasible=way, fit_first=fit_first))
    choices = random_choices(problem)
    for child in (0, 1):
        assert_same(backend, problem, choices, threads, child)


@pytest.mark.parametrize(("way", "fit_first"), [("drop", False), ("linear", True)])
def test_generations_beyond_32_bits_differ(backend: Backend, way: str, fit_first: bool) -> None:
    problem = knapsack(32, 5).adjusted(MkpSettings(infeasible=way, fit_first=fit_first))
    choices = np.ones((8, 32), np.int64)
    seen = assert_same(backend, problem, choices, 32, generation=2**32)
    again = evaluate_choices(backend, problem, choices, 32, generation=0)[0]
    assert (seen[::2] == again[::2]).all()
    assert (seen[1::2] != again[1::2]).any(axis=1).all()


@pytest.mark.gpu
@pytest.mark.parametrize(("way", "fit_first"), [*((way, False) for way in WAYS), ("linear", True)])
def test_each_infeasible_setting_compiles_for_gpus(way: str, fit_first: bool) -> None:
    problem = knapsack(100, 5).adjusted(MkpSettings(infeasible=way, fit_first=fit_first))
    macros = problem.defines() | {"COSTS_MARKED": str(int(problem.scale.marks))}
    for block in (Block(32, 32), Block(1024, 1)):
        require_machine_code(for_gpu(str(KERNEL), macros, block), optimised=True)


@pytest.mark.parametrize(
    ("way", "largest"), [*((way, 1 << 45) for way in WAYS), ("repair", 60_000)]
)
def test_large_numbers_are_exact(backend: Backend, way: str, largest: int) -> None:
    problem = knapsack(40, 4, largest=largest).adjusted(MkpSettings(infeasible=way))
    assert_same(backend, problem, random_choices(problem), 32)


def test_items_that_never_fit_and_zero_capacities(backend: Backend) -> None:
    problem = knapsack(20, 3)
    problem.file.weights[1, 4] = 10 + problem.file.capacities[1]  # never fits
    problem.file.capacities[2] = 0
    problem.file.weights[2, 10:] = 0  # only these can be selected
    seen, costs = evaluate_choices(backend, problem, np.ones((1, 20), np.int64), 32)
    assert not seen[0, :10].any()
    problem.check(seen[0])
    assert costs == [-int(problem.file.profits @ seen[0])]
    for kind in UTILITIES:
        last = orders(problem.file, prices_of(problem.file, kind), 4)[:, 10:]
        assert np.sort(last, axis=1).tolist() == [[*range(10)]] * 4


def _optimum(problem: Mkp) -> int:
    file = problem.file
    all_choices = np.array(list(itertools.product((0, 1), repeat=problem.size)))
    fits = (all_choices @ file.weights.T <= file.capacities).all(axis=1)
    return int((all_choices[fits] @ file.profits).max())


@pytest.mark.parametrize(
    ("algorithm", "encoding", "way"),
    [
        ("brkga", "keys", "repair"),
        ("de", "keys", "drop"),
        ("cellular", "bits", "linear"),
        ("ga", "bits", "repair"),
        ("pso", "bits", "dynamic"),
    ],
)
def test_runs_reach_the_optimum_of_brute_force(algorithm: str, encoding: str, way: str) -> None:
    problem = knapsack(12, 3)
    result = islands.solve(
        problem, algorithm=algorithm, encoding=encoding, infeasible=way, islands=2,
        population=64, stop=["generations=150"], backend="cpu", threads=1,
    )  # fmt: skip
    assert result.cost == _optimum(problem)
    problem.check(result.solution)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "encoding", "way"), [("pso", "keys", PENALTIES[0]), ("ga", "bits", PENALTIES[1])]
)
def test_fit_first_makes_generation_0_feasible(algorithm: str, encoding: str, way: str) -> None:
    problem = knapsack(100, 5)
    problem.file.capacities[:] //= 4  # no subset of half of the items fits
    asked = {"algorithm": algorithm, "encoding": encoding, "infeasible": way, "islands": 2}
    asked |= {"population": 16, "stop": "evaluations=1", "backend": "cpu"}
    with pytest.raises(RunError, match="no feasible"):
        islands.solve(problem, **asked)
    result = islands.solve(problem, fit_first=True, **asked)
    assert result.generations == 0
    problem.check(np.array(result.solution))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "encoding", "changes"),
    [
        ("de", "keys", {"low": 0.0, "high": 1.0}),
        ("cellular", "bits", {"replacement": "elitist", "neighbours": 4}),
        ("ga", "bits", {"replacement": "steady"}),
    ],
)
def test_rejected_feasible_solutions_are_kept(
    backend: Backend, algorithm: str, encoding: str, changes: dict[str, Any]
) -> None:
    problem = knapsack(14, 2).adjusted(MkpSettings(infeasible="linear", penalty=0.6))
    sizes = {"population": 24, "islands": 2, "seed": 3}
    mine, _, _ = begun(
        algorithm, encoding, {**changes}, sizes=sizes, problem=problem, backend=backend
    )
    genomes = ENCODINGS[encoding]["subset"](problem.size, None, "free", assigns=False)
    best, rejected = [2**62] * 2, 0
    for _ in range(12):
        mine.advance(1)
        seen = mine.snapshot()
        for island in range(2):
            held = seen["cost"][island]
            for cost, genome in zip(
                seen["offered_cost"][island], seen["offered"][island], strict=True
            ):
                if cost % 2 == 0:
                    choice = genomes.decode(genome[np.newaxis])[0]
                    problem.check(choice)
                    assert cost == -2 * problem.costs(choice[np.newaxis])[0]
                    rejected += cost not in held
            both = np.concatenate([held, seen["offered_cost"][island]])
            best[island] = min([best[island], *both[both % 2 == 0].tolist()])
    assert rejected > 0
    assert [each.best for each in mine.measure()] == [cost // 2 for cost in best]


@pytest.mark.parametrize("way", ["dynamic", "linear"])
def test_penalties_are_in_units_of_the_file(backend: Backend, way: str, tmp_path: Path) -> None:
    # Three items; each pair exceeds two capacities, one of them with decimals.
    path = tmp_path / "decimals.dat"
    path.write_text("3 2 0\n5 7 2\n0.5 1.5 0.25\n2 3 4\n0.5 4\n")
    problem = load(str(path), "drake").adjusted(MkpSettings(infeasible=way, penalty=8.0))
    _, costs = evaluate_choices(backend, problem, np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), 32)
    # Hundredths divided by profit: 2.00 + 5 over 12, 1.75 + 7 over 9, and 0.75 + 6 over 7.
    divided = [2**20 * 700 // 12 + 1, 2**20 * 875 // 9 + 1, 2**20 * 675 // 7 + 1]
    # 8 per unit of excess: 1.50 + 1, 1.25 + 3, and 0.25 + 2; minus the profit.
    fined = [20 - 12, 34 - 9, 18 - 7]
    assert costs == [2 * part + 1 for part in (divided if way == "dynamic" else fined)]


@pytest.mark.parametrize("kind", UTILITIES)
def test_islands_use_different_orders_by_utility(kind: str) -> None:
    problem = knapsack(100, 5).adjusted(MkpSettings(utilities=kind, orders=4))
    file, prices = problem.file, prices_of(problem.file, kind)
    found = problem.orders.tolist()
    for number, order in enumerate(found):
        assert sorted(order) == [*range(100)]
        doubts = np.random.RandomState(number).uniform(-0.1, 0.1, 5) if number else np.zeros(5)
        useful = []
        for item in order:
            paid = sum(float(prices[i]) * 2 ** doubts[i] * file.weights[i, item] for i in range(5))
            profit = int(file.profits[item])
            useful.append(profit - paid if number % 2 else profit / paid)
        assert all(one > other - 1e-6 for one, other in itertools.pairwise(useful))
        assert useful[0] > useful[-1]
    assert len({tuple(order) for order in found}) == 4
    assert found[0] == problem.numbering().tolist()
    plain = problem.adjusted(MkpSettings(utilities=kind, orders=1))
    assert plain.orders.tolist() == found[:1]


def test_price_changes_are_the_same_in_all_versions_of_numpy() -> None:
    drawn = varied(np.ones(2), 1)
    assert drawn == pytest.approx(2 ** (0.2 * np.array([0.417022004703, 0.720324493442]) - 0.1))


def test_duals_are_those_of_the_linear_relaxation() -> None:
    """By weak duality, prices give at least the optimum of the relaxation; only duals reach it."""
    for items, constraints in ((30, 1), (60, 5), (100, 30)):
        file = knapsack(items, constraints).file
        divided = scipy.optimize.linprog(
            -file.profits, A_ub=file.weights, b_ub=file.capacities, bounds=(0, 1)
        )
        prices = prices_of(file, "lp")
        left = np.maximum(0, file.profits - prices @ file.weights)
        assert prices.min() >= 0
        assert prices @ file.capacities + left.sum() == pytest.approx(-divided.fun)


def test_large_numbers_have_the_same_prices_as_small_ones() -> None:
    small = knapsack(40, 3).file
    weights, capacities = small.weights << 40, small.capacities << 40
    large = replace(small, profits=small.profits << 30, weights=weights, capacities=capacities)
    for kind in UTILITIES:
        prices = [prices_of(file, kind) for file in (small, large)]
        assert prices[1] * 2.0**10 == pytest.approx(prices[0])
        assert (orders(large, prices[1], 4) == orders(small, prices[0], 4)).all()


def test_last_digits_do_not_change_an_order() -> None:
    profits, priced = np.array([300, 100, 200]), np.array([3.0, 1.0, 2.0])
    off = priced * (1 + np.array([0, 1e-13, -1e-13]))
    for useful in (by_ratio, by_difference):
        assert useful(profits, off).tolist() == useful(profits, priced).tolist()
    assert by_ratio(profits, priced).tolist() == [100, 100, 100]
