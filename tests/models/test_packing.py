"""Bin packing compared with brute force, and with loads of bins in plain Python."""

import numpy as np
import pytest

import islands
from islands.models.packing import bound

SEARCH = {"algorithm": "tempering", "generations": 60, "seed": 1}


def fewest(sizes: list[int], capacity: int, loads: tuple[int, ...] = ()) -> int:
    """Return the number of bins of the best packing, by trying all."""
    if not sizes:
        return len(loads)
    first, *rest = sizes
    tried = {
        tuple(sorted((*loads[:k], loads[k] + first, *loads[k + 1 :]))) for k in range(len(loads))
    }
    tried.add(tuple(sorted((*loads, first))))
    return min(fewest(rest, capacity, each) for each in tried if max(each) <= capacity)


def test_there_is_a_tenth_more_bins_than_first_fit_needs() -> None:
    problem = islands.models.bin_packing([5] * 20, 10)
    assert problem.bins == 10 + 10 // 10 + 1


@pytest.mark.parametrize("seed", range(30))
def test_bounds_lie_on_both_sides_of_the_best_packing(seed: int) -> None:
    draw = np.random.default_rng(seed)
    capacity = int(draw.integers(4, 13))
    sizes = draw.integers(1, capacity + 1, int(draw.integers(1, 7))).tolist()
    if seed % 3 == 0:  # halves fit exactly
        sizes, capacity = [*sizes, max(sizes), max(sizes)], 2 * max(sizes)
    best = fewest(sizes, capacity)
    assert bound(sizes, capacity) <= best
    result = islands.solve(islands.models.bin_packing(sizes, capacity), **SEARCH, backend="cpu")
    assert result.cost == best


@pytest.mark.slow
def test_the_items_of_each_bin_fit() -> None:
    sizes = np.random.default_rng(11).integers(20, 100, 60)
    problem = islands.models.bin_packing(sizes, 150)
    result = islands.solve(problem, algorithm="tempering", generations=2000, seed=1)
    found = [int(sizes[result.solution == own].sum()) for own in {*result.solution.tolist()}]
    assert max(found) <= 150
    assert bound(sizes, 150) <= result.cost == len(found)


@pytest.mark.slow
def test_a_packing_into_one_bin_has_no_moves() -> None:
    class Plain(islands.models.BinPacking, state=None):
        pass

    assert islands.solve(Plain([5], 10), **SEARCH, backend="cpu").cost == 1


def test_a_picture_stacks_the_items_of_each_bin() -> None:
    axes = pytest.importorskip("matplotlib.figure").Figure().add_subplot()
    sizes, bins = [5, 2, 4, 3], [1, 0, 1, 0]
    islands.models.BinPacking(sizes, 9).draw(np.array(bins), axes)
    corners = [path.vertices for path in axes.collections[0].get_paths()]
    boxes = [
        (round(box[:, 0].mean()), box[:, 1].min(), np.ptp(box[:, 1]).item()) for box in corners
    ]
    assert boxes == [(1, 0, 5), (0, 0, 2), (1, 5, 4), (0, 2, 3)]
