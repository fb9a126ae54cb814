"""Sparse matrices of assignment problems: neighbours, bounds, and matrices of SciPy."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_matrix

import islands
from islands.errors import UsageError
from islands.instances.grids import grid
from islands.problems import qap_sparse
from islands.problems.qap import Qap
from islands.problems.qap_sparse import Sparse


def _random(n: int, pairs: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    flows, distances = np.zeros((n, n), np.int64), random.integers(1, 20, (n, n))
    for _ in range(pairs):
        i, j = random.choice(n, 2, replace=False)
        flows[i, j] = flows[j, i] = random.integers(1, 9)
    return flows, np.triu(distances, 1) + np.triu(distances, 1).T


def _sparse(problem: islands.Problem) -> Sparse:
    return problem.swaps.sparse


def test_neighbours_are_the_entries_by_decreasing_flow() -> None:
    flows, distances = _random(20, 30, 1)
    sparse = _sparse(islands.qap(flows, distances))
    for item in range(20):
        part = slice(sparse.first[item], sparse.first[item + 1])
        assert set(sparse.neighbour[part]) == set(np.flatnonzero(flows[item]))
        assert (sparse.flow[part] == 2 * flows[item, sparse.neighbour[part]]).all()
        assert (np.diff(sparse.flow[part]) <= 0).all()
        assert sparse.flows[item] == 2 * flows[item].sum()


@pytest.mark.parametrize("seed", range(4))
def test_no_assignment_is_below_the_bound(seed: int) -> None:
    problem = islands.qap(*_random(8, 7, seed))
    costs = problem.costs(np.array(list(permutations(range(8)))))
    assert 0 < _sparse(problem).lower_bound <= costs.min()


def test_the_bound_of_a_grid_is_its_optimum() -> None:
    planted = grid(6, 8)
    problem = Qap(planted.file())
    assert problem.lower_bound == planted.cost == problem.cost(planted.solution)


def test_the_bound_is_the_sum_of_nearest_distances() -> None:
    problem = islands.qap(*_random(20, 60, 7))
    flows, distances = problem.file.a, problem.file.b
    least = 0
    for row in flows:
        used = np.sort(row[row > 0])[::-1]
        nearest = [np.sort(np.delete(distances[k], k))[: len(used)] for k in range(20)]
        least += min(int((used * each).sum()) for each in nearest)
    assert problem.lower_bound == least


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_a_hub_is_none_too_much(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    flows, distances = _random(8, 0, seed)
    flows[0, 1:] = flows[1:, 0] = range(1, 8)
    exact = islands.qap(flows, distances).lower_bound
    monkeypatch.setattr(qap_sparse, "_MOST_RANKED", 24)  # three neighbours of each
    monkeypatch.setattr(qap_sparse, "_DISTANCES_AT_ONCE", 24)
    problem = islands.qap(flows, distances)
    assert 0 < problem.lower_bound <= exact
    assert exact <= problem.costs(np.array(list(permutations(range(8))))).min()


def test_without_flows_the_bound_is_zero() -> None:
    assert islands.qap(np.zeros((5, 5), int), np.ones((5, 5), int)).lower_bound == 0


_CPU: Any = {"backend": "cpu", "threads": 2, "seconds": 20}


@pytest.mark.parametrize("algorithm", [None, "tempering", "memetic"])
def test_small_grids_end_at_a_proven_optimum(algorithm: str | None) -> None:
    planted = grid(3, 5)
    own = {"algorithm": algorithm, "improver": "tabu"} if algorithm == "memetic" else {}
    result = islands.solve(Qap(planted.file()), **_CPU, **own)
    assert result.reason == f"lower bound {planted.cost} reached, which proves the optimum"


def test_a_large_grid_ends_at_a_proven_optimum() -> None:
    planted = grid(40, 50)
    result = islands.solve(Qap(planted.file()), start=[planted.solution], **_CPU)
    assert result.reason == f"lower bound {planted.cost} reached, which proves the optimum"
    assert result.generations == 0


def test_a_result_has_the_bound() -> None:
    problem = Qap(grid(4, 5, hidden=3).file())
    result = islands.solve(problem, bound=True, **{**_CPU, "generations": 2})
    assert (result.bound, result.bound_kind) == (problem.lower_bound, "nearest")
    assert result.bound < result.cost


def test_the_criterion_without_a_value_is_that_of_the_problem() -> None:
    planted = grid(3, 4)
    result = islands.solve(Qap(planted.file()), **{**_CPU, "stop": ["lower-bound"]})
    assert result.cost == planted.cost
    dense = islands.qap(*_random(20, 150, 1), name="dense")
    with pytest.raises(UsageError, match="no lower bound of dense is known"):
        islands.solve(dense, stop=["lower-bound"])


def test_near_places() -> None:
    distances = grid(4, 5).distances
    near = _sparse(Qap(grid(4, 5).file())).near(5)
    for place, row in enumerate(near):
        others = np.sort(np.delete(distances[place], place))
        assert place not in row
        assert (distances[place, row] == others[:5]).all()


def test_dense_and_asymmetric_matrices_are_not_sparse() -> None:
    dense = islands.qap(*_random(20, 150, 1))
    assert (dense.swaps.sparse, dense.lower_bound) == (None, None)
    flows, distances = _random(20, 30, 1)
    flows[0, 1], distances[0, 1] = 7, 30
    flows[1, 0] = 0
    assert islands.qap(flows, distances).swaps.sparse is None


def test_sparse_matrices_are_taken_and_entries_of_a_pair_are_added() -> None:
    planted = grid(6, 7)
    for kind in (csr_matrix, coo_array):
        problem = islands.qap(kind(planted.flows), planted.distances)
        assert problem.cost(planted.solution) == planted.cost
    twice = coo_array((np.full(2, 200, np.uint8), ([0, 0], [1, 1])), shape=(2, 2))
    assert islands.qap(twice, [[0, 3], [3, 0]]).cost([0, 1]) == 1200
    linear = coo_array(([5, 7], ([0, 1], [1, 0])), shape=(2, 2))
    problem = islands.qap([[0, 1], [1, 0]], [[0, 3], [3, 0]], linear=linear)
    assert [problem.cost(order) for order in ([0, 1], [1, 0])] == [6, 18]


def test_a_sparse_matrix_on_a_gpu_is_rejected() -> None:
    class OnDevice:
        shape, nnz, dtype = (3, 3), 2, np.dtype(float)

        def toarray(self) -> OnDevice:
            return self

        def __array__(self, *_: object, **__: object) -> None:
            raise TypeError("Implicit conversion to a NumPy array is not allowed")

    with pytest.raises(
        UsageError, match=r"flows=.*cannot be converted to a NumPy array \(Implicit"
    ):
        islands.qap(OnDevice(), np.ones((3, 3), int))


def test_distances_of_streets_are_a_metric() -> None:
    x, y = np.divmod(np.arange(48), 8)
    streets = abs(x[:, np.newaxis] - x) + abs(y[:, np.newaxis] - y)
    planted = grid(6, 8)
    assert _sparse(islands.qap(planted.flows, streets)).is_metric
    assert not _sparse(Qap(planted.file())).is_metric
