"""Graphs as arrays: validated edges, and the neighbours of each node."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.errors import UsageError
from islands.instances.sizes import FEW_NODES, MOST_NODES, MOST_NODES_PER_EDGE
from islands.modelling.kinds import whole_number
from islands.models import messages
from islands.models.files import NumberFile
from islands.models.numbers import item_numbers
from islands.problems.arguments import require_shape


def pairs_of(edges: ArrayLike, nodes: int | None = None) -> tuple[NDArray[np.int64], int]:
    """Return the edges as pairs of nodes, and the number of nodes; reject invalid edges.

    By default, the number of nodes is the largest node number plus one. It is limited by the number
    of edges, as a few edges must not allocate memory for millions of nodes.
    """
    pairs = item_numbers("edges", edges, 2, MOST_NODES)
    require_shape("edges", pairs, (len(pairs), 2), "a row of two nodes for each edge")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise UsageError("edges: one of them leads from a node to itself. Leave it out")
    n, most = int(pairs.max()) + 1, max(FEW_NODES, MOST_NODES_PER_EDGE * len(pairs))
    if n > most:
        raise messages.too_many_nodes(nodes=n, edges=len(pairs), most=most)
    if nodes is None:
        return pairs, n
    if (given := whole_number("nodes", nodes, most)) < n:
        raise UsageError(f"nodes={given}: an edge has the node {n - 1}. Pass nodes={n} or more")
    return pairs, given


def read_edges(file: NumberFile, n: int, m: int, low: int = 0) -> NDArray[np.int64]:
    """Return the `m` edges that follow in a file: rows of two nodes from 1 to `n`, and a weight."""
    file.expect(f"a graph of {m} edges", 3 * m)
    edges = np.array(file.numbers(3 * m, "numbers of edges", low)).reshape(m, 3)
    file.end()
    if edges[:, :2].min() < 1 or edges[:, :2].max() > n:
        raise file.error(f"an edge has a node that is not from 1 to {n}. Correct it")
    return edges


def neighbours(
    pairs: NDArray[np.int64], weights: NDArray[np.int64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the start of each node's list, the sorted neighbours of all nodes, and weights.

    The weights of edges between the same nodes are added.
    """
    from scipy.sparse import coo_array  # takes a fifth of the time of sorting with NumPy

    begin, end = np.concatenate([pairs, pairs[:, ::-1]]).T
    both = coo_array((np.concatenate([weights, weights]), (begin, end)), shape=(n, n)).tocsr()
    return both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data
