"""Bits: encoding and decoding subsets."""

from __future__ import annotations

import numpy as np
import pytest

from islands.encodings.direct import Bits


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 128, 1000])
def test_decoding_inverts_encoding(n: int) -> None:
    encoding = Bits(n, None)
    solutions = np.random.default_rng(n).integers(0, 2, (5, n))
    genomes = np.stack([encoding.encode(solution) for solution in solutions])
    assert genomes.shape == (5, encoding.pitch)
    assert genomes.dtype == encoding.gene
    assert encoding.pitch % 4 == 0
    assert encoding.decode(genomes).tolist() == solutions.tolist()


def test_item_i_is_bit_i_of_its_word_and_the_rest_is_zero() -> None:
    solution = np.zeros(70, np.int64)
    solution[[0, 31, 33, 69]] = 1
    genome = Bits(70, None).encode(solution)
    assert genome.tolist() == [1 | 1 << 31, 1 << 1, 1 << 5, 0]
