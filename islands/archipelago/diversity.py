"""What kernels/diversity.cuh compares of two genomes, and its result if they differ everywhere."""

from __future__ import annotations

import numpy as np

from islands.encodings import Encoding
from islands.problems.base import Problem

# The constants of the kernel.
_PAIRS, _GENES, _ONE = 8, 256, 1 << 24
_WORD_BITS = 32


def compares_edges(encoding: Encoding, problem: Problem) -> bool:
    """Return whether genomes are closed tours, which differ in edges and not in places."""
    return problem.is_tour and "permutation" in (encoding.name, encoding.like)


def most_distant(encoding: Encoding, problem: Problem, population: int) -> int:
    """Return the sum of all distances in the sample if all genomes are as far as possible.

    It is 0 without two individuals.
    """
    genes = min(_GENES, encoding.size)
    if compares_edges(encoding, problem):
        a_pair = 2 * genes
    elif encoding.gene == np.uint32:
        # The last word, which is in the sample unless words are left out, may be incomplete.
        unused = _WORD_BITS * encoding.size - problem.size if genes == encoding.size else 0
        a_pair = _WORD_BITS * genes - (unused if 0 < unused < _WORD_BITS else 0)
    else:
        a_pair = genes * (_ONE if encoding.gene.kind == "f" else 1)
    return min(_PAIRS, population // 2) * a_pair
