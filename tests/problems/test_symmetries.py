"""Symmetries of matrices, compared with all permutations."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

from islands.problems import qap_choice as module
from islands.problems.qap_choice import symmetries

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
def test_symmetries_of_large_matrices_are_shifts_and_reflections(
    matrix: Matrix, count: int
) -> None:
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
