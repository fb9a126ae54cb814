"""Tabu search with deltas in tiles, on a GPU or an emulated one, against the CPU, bit for bit."""

import numpy as np
import pytest
from emulated_gpu import EmulatedGpu
from numpy.typing import NDArray
from problems_for_tests import facilities

from islands.backends import choose
from islands.backends.base import Backend
from islands.instances.qaplib import QapFile
from islands.problems import qap_exchanges
from islands.problems.qap import Qap
from islands.problems.qap_exchanges import Tiles
from islands.studies.bench import tabu

STEPS = 150


@pytest.fixture
def gpu(backend: Backend) -> Backend:
    return backend if backend.name == "cuda" else EmulatedGpu(32)


def with_tiles(monkeypatch: pytest.MonkeyPatch, side: int, problem: Qap | None = None) -> None:
    """Give all problems tiles of one side, and let searches solve a problem."""
    monkeypatch.setattr(qap_exchanges, "tiles_of", lambda items: Tiles(items, side))
    if problem is not None:
        monkeypatch.setattr(tabu, "random_qap", lambda n: problem)


def searched(backend: Backend, size: int, steps: int) -> tuple[NDArray[np.int32], list[int]]:
    searches = tabu.TabuSearches(backend, size, 2, steps)
    searches.measured("kernel")
    searches.check()
    return searches.orders["kernel"], searches.costs["kernel"].tolist()


def assert_same(size: int, gpu: Backend, steps: int = STEPS) -> None:
    orders, costs = searched(choose("cpu", 1), size, steps)
    found, found_costs = searched(gpu, size, steps)
    assert np.array_equal(found, orders)
    assert found_costs == costs


@pytest.mark.slow
@pytest.mark.parametrize(("side", "size"), [(3, 3), (4, 7), (5, 20), (6, 25), (3, 25)])
def test_tiles_make_the_same_steps(
    monkeypatch: pytest.MonkeyPatch, gpu: Backend, side: int, size: int
) -> None:
    with_tiles(monkeypatch, side)
    assert tabu.random_qap(size).swaps.tiles == Tiles(size, side)
    assert_same(size, gpu)


@pytest.mark.slow
@pytest.mark.parametrize("symmetric", ["both", "a"])
def test_diagonals_and_sums_of_an_asymmetric_matrix(
    monkeypatch: pytest.MonkeyPatch, gpu: Backend, symmetric: str
) -> None:
    problem = facilities(22, symmetric=symmetric, diagonal=True, largest=63)
    with_tiles(monkeypatch, 5, problem)
    assert problem.swaps.tiles is not None
    assert problem.defines()["PROBLEM_TILE_DIAGONAL"] == "1"
    assert_same(22, gpu)


@pytest.mark.slow
@pytest.mark.parametrize("size", [46, 200])
def test_large_deltas_are_exact(monkeypatch: pytest.MonkeyPatch, gpu: Backend, size: int) -> None:
    matrices = 255 * np.random.default_rng(3).integers(0, 2, (2, size, size))
    matrices[:, 0, 1] = 254
    matrices[0] //= 2  # the device has the sum of both halves
    a, b = (np.triu(each, 1) + np.triu(each, 1).T for each in matrices)
    extreme = Qap(QapFile("extreme", None, size, a, b))
    assert extreme.swaps.tiles is not None
    assert [matrix.max() for matrix in extreme._on_device] == [254, 255]
    monkeypatch.setattr(tabu, "random_qap", lambda n: extreme)
    assert_same(size, gpu, steps=40)


@pytest.mark.parametrize("size", [46, pytest.param(81, marks=pytest.mark.slow)])
def test_the_usual_tiles_make_the_same_steps(gpu: Backend, size: int) -> None:
    assert tabu.random_qap(size).swaps.tiles is not None
    assert_same(size, gpu)
