"""The form of assignment problems in kernels: exchanges, choices and symmetries of matrices."""

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from numpy_improvers import unequal_pairs
from problems_for_tests import facilities, of_two_kinds, with_equals

import islands
from islands.instances.qaplib import QapFile
from islands.problems import qap_choice as module
from islands.problems.qap import Qap
from islands.problems.qap_choice import symmetries
from islands.problems.qap_exchanges import Exchanges, mean_change
from islands.problems.qap_form import alike

FEW: dict[str, Any] = {"islands": 2, "population": 16, "backend": "cpu", "threads": 1}


def equals(n: int = 12, *, turned: bool = False) -> Qap:
    matrices = with_equals(n)
    return Qap(QapFile("equals", None, n, *(matrices[::-1] if turned else matrices)))


def test_indices_are_alike_if_their_exchange_never_changes_a_cost() -> None:
    problem = facilities(7)
    a = problem.file.a.copy()
    a[2] = a[4]
    a[:, 2] = a[:, 4]
    a[2, 4] = a[4, 2] = 9
    a[2, 2] = a[4, 4] = 3
    assert alike(a).tolist() == [0, 1, 2, 3, 2, 5, 6]
    orders = np.array([np.random.default_rng(k).permutation(7) for k in range(30)])
    two, four = np.full(30, 2), np.full(30, 4)
    assert not Exchanges.of(orders, two, four).changes(a, problem.file.b).any()
    a[2, 4] = 8  # no longer symmetric
    assert alike(a).tolist() == list(range(7))
    assert alike(np.zeros((5, 5), np.int64)).tolist() == [0] * 5


def test_facilities_with_different_linear_costs_are_not_alike() -> None:
    linear = np.repeat([[3, 4, 5, 6]], 4, axis=0)
    linear[2, 1] = 7
    zeros = np.zeros((4, 4), np.int64)
    assert alike(zeros, linear).tolist() == [0, 0, 2, 0]
    form = Qap(QapFile("linear", None, 4, zeros, zeros, linear=linear)).form
    assert form.pairs == 3  # of facility 2 with the others
    assert form.places is None


@pytest.mark.parametrize("turned", [False, True])
def test_equal_items_are_consecutive_and_no_pairs(turned: bool) -> None:
    form, problem = equals(turned=turned).form, equals(turned=turned)
    assert form.turned == turned
    pairs = [(i, j) for i in range(12) for j in range(int(form.after[i]), 12)]
    assert pairs == unequal_pairs(problem)
    assert form.pairs == len(pairs) == 66 - 6 - 1
    unequal = unequal_pairs(problem, of_places=True)
    assert [form.places[i] != form.places[j] for i, j in unequal] == [True] * (66 - 3)


@pytest.mark.parametrize("turned", [False, True])
def test_kernels_see_the_same_costs(turned: bool) -> None:
    problem = equals(turned=turned)
    form = problem.form
    orders = np.array([np.random.default_rng(k).permutation(12) for k in range(20)])
    seen = problem.layout.to_device(orders)
    assert (problem.layout.from_device(seen) == orders).all()
    assert (problem.layout.from_device(seen[3]) == orders[3]).all()
    for order, cost in zip(seen, problem.costs(orders).tolist(), strict=True):
        assert (form.a * form.b[np.ix_(order, order)]).sum() == cost


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "turned"), [("tempering", True), ("memetic", True), ("brkga", False)]
)
def test_a_warm_start_is_the_same_assignment(turned: bool, algorithm: str) -> None:
    problem = equals(turned=turned)
    order = np.random.default_rng(4).permutation(12)
    solver = islands.Solver(problem, algorithm=algorithm, **FEW)
    solver.inject([order])
    solver.evolve(3)
    best = solver.best(1)[0]
    assert best.cost == problem.cost(best.solution) <= problem.cost(order)


@pytest.mark.parametrize("linear", [0, 5000])
@pytest.mark.parametrize("symmetric", ["both", "a", "b", "neither"])
def test_changes_are_differences_of_costs(symmetric: str, linear: int) -> None:
    problem = facilities(9, symmetric=symmetric, diagonal=True, linear=linear)
    draw = np.random.default_rng(3)
    orders = np.array([draw.permutation(9) for _ in range(40)])
    u, v = np.array([draw.choice(9, 2, replace=False) for _ in range(40)]).T
    after = orders.copy()
    rows = np.arange(40)
    after[rows, u], after[rows, v] = orders[rows, v], orders[rows, u]
    expected = problem.costs(after) - problem.costs(orders)
    a, b, extra = problem.file.a, problem.file.b, problem.file.linear
    found = Exchanges.of(orders, u, v).changes(a, b, extra)
    assert found.tolist() == expected.tolist()


def test_the_mean_change_is_that_of_all_exchanges_of_all_assignments() -> None:
    problem = facilities(5, symmetric="neither", diagonal=True)
    orders = np.array(list(permutations(range(5))))
    total = count = 0
    for u, v in combinations(range(5), 2):
        after = orders.copy()
        after[:, [u, v]] = after[:, [v, u]]
        total += int(np.abs(problem.costs(after) - problem.costs(orders)).sum())
        count += len(orders)
    assert mean_change(problem.file.a, problem.file.b) == pytest.approx(total / count, rel=0.03)


def costs_of_choices(problem: Qap) -> tuple[list[int], list[int]]:
    """Return the costs of all choices, as weights give them and by assignments."""
    choice, n = problem.swaps.choice, problem.size
    both = (choice.weights, choice.alone)
    weights, alone = (each.astype(object) * choice.scale for each in both)
    assert (weights == weights.T).all()
    assert not weights.diagonal().any()
    chosen = [list(each) for each in combinations(range(n), choice.chosen)]
    orders = np.array([each + [p for p in range(n) if p not in each] for each in chosen])
    costs = problem.costs(problem.layout.from_device(orders)).tolist()
    sums = [int(alone[each].sum() + weights[np.ix_(each, each)].sum() // 2) for each in chosen]
    return sums, costs


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("linear", [0, 50])
@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize("symmetric", ["both", "neither"])
@pytest.mark.parametrize(("chosen", "largest"), [(1, 99), (6, 99), (3, 9000), (3, 10**8)])
def test_weights_give_the_costs_of_all_assignments(
    chosen: int, largest: int, symmetric: str, diagonal: bool, linear: int, turned: bool
) -> None:
    way = {"symmetric": symmetric, "diagonal": diagonal, "linear": linear, "turned": turned}
    problem = of_two_kinds(8, chosen, largest=largest, **way)
    sums, costs = costs_of_choices(problem)
    assert len({cost - own for cost, own in zip(costs, sums, strict=True)}) == 1
    assert len(set(costs)) > 1


def test_numbers_are_divided_by_their_greatest_common_divisor() -> None:
    block = np.zeros((9, 9), np.int64)
    block[:3, :3] = 5
    np.fill_diagonal(block, 0)
    b = facilities(9).file.b
    choice = Qap(QapFile("scaled", None, 9, block, 7 * b)).swaps.choice
    assert choice.scale == 2 * 5 * 7
    np.fill_diagonal(b, 0)
    assert (choice.weights == b).all()


def test_other_problems_are_no_choices() -> None:
    problem = of_two_kinds(9, 4)
    assert problem.swaps.choice is not None
    for place in ((0, 1), (0, 8), (7, 8)):
        a = problem.file.a.copy()
        a[place] += 1
        assert Qap(QapFile("near", None, 9, a, problem.file.b)).swaps.choice is None
    linear = np.zeros((9, 9), np.int64)
    linear[2, 5] = 1
    near = QapFile("near", None, 9, problem.file.a, problem.file.b, linear=linear)
    assert Qap(near).swaps.choice is None
    assert facilities(9).swaps.choice is None
    block = np.zeros((9, 9), np.int64)
    block[:3, :3] = 2**27
    assert Qap(QapFile("huge", None, 9, block, 2**23 * problem.file.b)).swaps.choice is None


Matrix = np.ndarray[Any, Any]


def ring(n: int, *, directed: bool = False) -> Matrix:
    gaps = (np.arange(n) - np.arange(n)[:, np.newaxis]) % n
    return gaps if directed else np.minimum(gaps, n - gaps)


def grid(rows: int, columns: int, *, is_torus: bool) -> Matrix:
    places = np.array([divmod(p, columns) for p in range(rows * columns)])
    gaps = abs(places[:, np.newaxis] - places)
    if is_torus:
        gaps = np.minimum(gaps, np.array([rows, columns]) - gaps)
    return np.asarray((gaps**2).sum(axis=-1))


def graph(n: int, seed: int) -> Matrix:
    half = np.triu(np.random.default_rng(seed).integers(0, 2, (n, n)), 1)
    return np.asarray(half + half.T)


MATRICES = {
    "ring": (ring(7), np.zeros(7, int)),
    "directed": (ring(6, directed=True), np.zeros(6, int)),
    "fixed": (ring(7), np.eye(7, dtype=int)[3]),
    "grid": (grid(2, 3, is_torus=False), np.zeros(6, int)),
    "random": (np.random.default_rng(2).integers(0, 9, (6, 6)), np.zeros(6, int)),
    # Permutations that keep the entries of a base need not keep all entries.
    **{f"graph {seed}": (graph(6, seed), np.zeros(6, int)) for seed in (6, 35, 108)},
    "diagonal": (ring(6) + np.diag([1, 0, 0, 1, 0, 0]), np.zeros(6, int)),
}


@pytest.mark.parametrize("name", MATRICES)
def test_all_symmetries_of_small_matrices_are_found(name: str) -> None:
    matrix, alone = MATRICES[name]
    n = len(matrix)
    expected = [
        list(order)
        for order in permutations(range(n))
        if (matrix[np.ix_(order, order)] == matrix).all() and (alone[list(order)] == alone).all()
    ]
    found = symmetries(matrix, alone).tolist()
    assert found[0] == list(range(n))
    assert sorted(found) == expected


@pytest.mark.parametrize(
    ("matrix", "count"),
    [
        (grid(8, 8, is_torus=True), 512),
        (grid(5, 5, is_torus=False), 8),
        (grid(4, 7, is_torus=True), 8 * 14),
        (ring(300), 600),
        (np.random.default_rng(1).integers(0, 2, (40, 40)), 1),
    ],
)
def test_symmetries_of_large_matrices_are_shifts_and_mirrors(matrix: Matrix, count: int) -> None:
    n = len(matrix)
    found = symmetries(matrix, np.zeros(n, np.int64))
    assert len(np.unique(found, axis=0)) == len(found) == count
    for moved in found:
        assert (matrix[np.ix_(moved, moved)] == matrix).all()


def test_a_group_that_is_too_large_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = np.kron(ring(20), np.ones((2, 2), np.int64))  # with equal rows
    assert symmetries(pairs, np.zeros(40, np.int64)).tolist() == [list(range(40))]
    monkeypatch.setattr(module, "_MOST_SYMMETRIES", 100)
    found = symmetries(ring(300), np.zeros(300, np.int64))
    assert len(found) <= 100
    monkeypatch.setattr(module, "_MOST_POINTS", 100)
    assert len(symmetries(ring(300), np.zeros(300, np.int64))) == 1
