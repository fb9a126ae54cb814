"""Bin packing compared with brute force, and with loads of bins in plain Python."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import islands
from islands.backends.base import Backend
from islands.models.packing import bins_of, bound, read

SIZES = [7, 5, 4, 4, 3, 2, 2]
SEARCH = {"algorithm": "tempering", "generations": 60, "seed": 1}


def loads(bins: Any) -> list[int]:
    return [sum(s for s, b in zip(SIZES, bins, strict=True) if b == k) for k in {*bins}]


@pytest.mark.parametrize("capacity", [7, 9, 14])
def test_the_fewest_bins_are_those_of_all_packings(backend: Backend, capacity: int) -> None:
    fitting = (each for each in product(range(5), repeat=7) if max(loads(each)) <= capacity)
    best = min(len({*each}) for each in fitting)
    problem = islands.models.bin_packing(SIZES, capacity)
    result = islands.solve(problem, **SEARCH, backend=backend.name)
    assert result.cost == best >= bound(SIZES, capacity)


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
    apart = np.linspace(0, 1, 20, endpoint=False)  # in as many bins as there are
    assert problem.cost(apart) == 10 + 10 // 10 + 1


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
    own = bins_of(result.solution, 60)  # any number above that of the bins keeps bins apart
    assert bound(sizes, 150) <= result.cost <= len({*own.tolist()})
    keys = sorted({*result.solution.tolist()})
    found = [int(sizes[np.asarray(result.solution) == key].sum()) for key in keys]
    assert max(found) <= 150
    assert result.cost == len(found)


@pytest.mark.slow
def test_the_state_agrees_with_costs() -> None:
    problem = islands.models.bin_packing(SIZES, 9)
    assert "480 of 480 moves as costs" in str(islands.check_problem(problem, samples=60))


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bins.bpp"
    path.write_text("3\n10\n6\n5\n4\n")
    assert islands.solve(read(path), **SEARCH).cost == 2
