"""Genomes that are the solution itself: permutations, keys, and vectors in a box."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from islands.encodings.direct import Permutation, RawKeys, Vector

LOW, HIGH = np.array([-5.0, 0.1, 2, -1e9, 3]), np.array([5.0, 0.3, 2, 1e9, 3.5])


def box() -> Vector:
    return Vector(5, None, low=LOW, high=HIGH)


def decoded(encoding: Vector | RawKeys, *genes: float) -> NDArray[np.float64]:
    row = np.array(genes, encoding.gene)
    vector: NDArray[np.float64] = encoding.decode(row[np.newaxis])[0]
    return vector


def test_the_unit_box_is_mapped_to_the_box_of_the_problem() -> None:
    encoding = box()
    assert encoding.pitch == 8
    assert decoded(encoding, 0, 0, 0, 0, 0).tolist() == LOW.tolist()
    assert decoded(encoding, 1, 1, 1, 1, 1).tolist() == HIGH.tolist()
    assert decoded(encoding, 0.5, 0.5, 0.5, 0.5, 0.5).tolist() == [0, 0.2, 2, 0, 3.25]


def test_rounding_does_not_lead_out_of_the_box() -> None:
    low, high = np.random.default_rng(2).uniform(0, 10, (2, 4000)) * [[-1], [1]]
    assert (low + (high - low) > high).any()
    vectors = Vector(4000, None, low=low, high=high).decode(np.ones((1, 4000)))
    assert (vectors <= high).all()


@pytest.mark.parametrize("encoding", [box(), RawKeys(5, None)])
@pytest.mark.parametrize("wrong", [-0.001, 1.001, np.nan, np.inf])
def test_genomes_outside_the_range_are_invalid(encoding: Vector | RawKeys, wrong: float) -> None:
    genomes = np.full((3, 8), 0.25, encoding.gene)
    genomes[:, 5:] = np.nan  # the padding has no meaning
    assert encoding.holds(genomes)
    genomes[1, 4] = wrong
    assert not encoding.holds(genomes)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 929])
def test_a_permutation_is_the_solution(n: int) -> None:
    encoding = Permutation(n, None)
    solution = np.random.default_rng(n).permutation(n).astype(np.int64)
    genome = encoding.encode(solution)
    assert genome.shape == (encoding.pitch,)
    assert genome.dtype == encoding.gene
    assert encoding.pitch % 4 == 0
    assert genome[:n].tolist() == solution.tolist()
    decoded = encoding.decode(genome[np.newaxis])
    assert decoded.dtype == np.int64
    assert decoded.tolist() == [solution.tolist()]
