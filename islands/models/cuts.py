"""Maximum cuts: two sides of a graph with the most weight of edges between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.calls import explained
from islands.modelling.api import subset
from islands.modelling.model import Model
from islands.models.files import NumberFile
from islands.models.graphs import draw_graph, neighbours, pairs_of, read_edges
from islands.models.numbers import LARGEST_SUM, amounts
from islands.models.plain import Quadratic
from islands.models.texts import text_of
from islands.problems.data import name_or, require_shape


@explained
def max_cut(
    edges: ArrayLike, weights: ArrayLike | None = None, *, name: str | None = None
) -> Model:
    """Return the problem of two sides of a graph with the most weight of edges between them.

    `edges` is a row of two nodes for each edge; nodes are numbered from 0. `weights` are whole
    numbers, of which negative ones are possible; without them each edge has the weight 1. A
    solution has 1 for the nodes of one side.

    >>> problem = islands.models.max_cut([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
    >>> islands.solve(problem, generations=20).cost
    4
    """
    pairs, n = pairs_of(edges)
    each = np.ones(len(pairs), np.int64)
    if weights is not None:
        each = amounts("weights", weights, 1, LARGEST_SUM, negative=True)
        require_shape("weights", each, (len(pairs),), "a number for each edge")
    first, other, weight = neighbours(pairs, each, n)

    def cuts(sides: NDArray[Any]) -> NDArray[Any]:
        return np.asarray((sides[:, pairs[:, 0]] != sides[:, pairs[:, 1]]) @ each)

    model = subset(
        n,
        cost=text_of("max_cut"),
        state=text_of("max_cut_state"),
        data={"first": first, "other": other, "weight": weight},
        cooperative=True,
        reference=cuts,
        maximise=True,
        name=name_or(name, f"maxcut-{n}"),
        plot=lambda solution, axes: draw_graph(axes, pairs, solution),
    )

    def plain() -> Quadratic:
        # An edge is between the sides if one of its nodes is chosen: x + y - 2 x y.
        single = np.add.reduceat(np.append(weight, 0), first[:-1])
        single[np.diff(first) == 0] = 0
        return Quadratic.of_neighbours(single, first, other, -2 * weight, maximise=True)

    model.plain = plain
    return model


def read(path: Path) -> Model:
    """Return the problem in a file: nodes and edges; for each edge, two nodes from 1 and weight."""
    with NumberFile.open(path) as file:
        n, m = file.numbers(2, "sizes", 1)
        edges = read_edges(file, n, m, -(2**31))
        return max_cut(edges[:, :2] - 1, edges[:, 2])
