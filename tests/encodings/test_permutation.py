"""Permutations: the genome is the solution."""

from __future__ import annotations

import numpy as np
import pytest

from islands.encodings.permutation import Permutation


@pytest.mark.parametrize("n", [1, 2, 3, 5, 929])
def test_a_genome_is_the_solution(n: int) -> None:
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
