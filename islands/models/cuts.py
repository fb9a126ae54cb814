"""Maximum cuts: two sides of a graph with the largest weight of edges between them."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.modelling.kinds import subsets_of
from islands.models.base import ReadyModel, function_of
from islands.models.drawing import draw_graph
from islands.models.files import NumberFile
from islands.models.graphs import neighbours, pairs_of, read_edges
from islands.models.numbers import LARGEST_SUM, amounts
from islands.models.plain import Quadratic
from islands.problems.arguments import name_or, require_shape


class MaxCut(ReadyModel):
    """Divide a graph into two sides with the largest weight of edges between them.

    `edges` has a row of two nodes for each edge; nodes are numbered from 0. `weights` are whole
    numbers, possibly negative, by default 1 for each edge. `nodes` is the number of nodes, needed
    if the last ones have no edges. A solution has 1 for the nodes of one side.

    >>> problem = islands.models.max_cut([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
    >>> islands.solve(problem, generations=20).cost
    4
    """

    _cost_file, _state_files, _is_cooperative = "max_cut", ("max_cut_state",), True
    _quadratic = "cut"

    edges: NDArray[np.int64]
    """The two nodes of each edge."""
    weights: NDArray[np.int64]
    """The weight of each edge."""

    def __init__(
        self,
        edges: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        nodes: int | None = None,
        name: str | None = None,
    ) -> None:
        self.edges, n = pairs_of(edges, nodes)
        self.weights = np.ones(len(self.edges), np.int64)
        if weights is not None:
            self.weights = amounts("weights", weights, 1, LARGEST_SUM, negative=True)
            require_shape("weights", self.weights, (len(self.edges),), "a number for each edge")
        self._neighbours = neighbours(self.edges, self.weights, n)
        super().__init__(subsets_of(n, self.choose), name_or(name, f"maxcut-{n}"), maximise=True)

    def data(self) -> dict[str, Any]:
        """Return the neighbours of each node."""
        return dict(zip(("first", "other", "weight"), self._neighbours, strict=True))

    def exact(self, sides: NDArray[Any]) -> NDArray[Any]:
        """Return the weight between the sides of each solution."""
        one, other = self.edges.T
        return np.asarray((sides[:, one] != sides[:, other]) @ self.weights)

    def draw(self, solution: Any, axes: Any) -> None:
        """Draw the sides of the graph."""
        draw_graph(axes, self.edges, solution)

    def _plain(self) -> Quadratic:
        """Return the weight of the cut as a quadratic form."""
        # An edge connects the sides if exactly one of its nodes is chosen: x + y - 2 x y.
        first, other, weight = self._neighbours
        single = np.add.reduceat(np.append(weight, 0), first[:-1])
        single[np.diff(first) == 0] = 0
        return Quadratic.of_neighbours(single, first, other, -2 * weight, maximise=True)


max_cut = function_of(MaxCut, "max_cut")


def read(path: Path) -> MaxCut:
    """Return the problem in a file: numbers of nodes and edges, then each edge's nodes and weight.

    Nodes are numbered from 1.
    """
    with NumberFile.open(path) as file:
        n, m = file.numbers(2, "sizes", 1)
        edges = read_edges(file, n, m, -(2**31))
        return max_cut(edges[:, :2] - 1, edges[:, 2], nodes=n)
