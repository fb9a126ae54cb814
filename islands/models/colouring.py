"""Graph colouring: few colours, such that no edge joins two nodes of the same colour."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.calls import explained
from islands.errors import UsageError
from islands.instances.lines import shown
from islands.instances.sizes import MOST_NODES, MOST_NUMBERS, require_size
from islands.modelling.kinds import whole_number
from islands.modelling.model import Model
from islands.modelling.statement import Statement
from islands.models.files import NumberFile
from islands.models.graphs import draw_graph, neighbours, pairs_of
from islands.models.plain import Colouring
from islands.models.texts import text_of
from islands.problems.data import name_or
from islands.problems.solution_kinds import Choices

_MOST = 1 << 16
"""The most colours, of which a cost has a bit each."""
_SHARED = 64
"""Up to so many colours, all graphs have the same program."""
_LARGEST = 1 << 28
"""The most pairs of a node and a colour, of which each search has a table."""


class GraphColouring(Model):
    """The problem of `graph_colouring`."""

    edges: NDArray[np.int64]
    """The two nodes of each edge, once."""
    colours: int
    """The number of colours that are allowed."""
    counts: bool
    """Whether the number of colours in use is a part of the cost."""

    # Not one that `searches`: after 4 million steps, random graphs of 250 and 500 nodes then needed
    # 29 and 51 colours, and 28 and 50 or 51 otherwise, with two seeds.
    searches = False

    def __init__(
        self, edges: ArrayLike, colours: int | None = None, *, name: str | None = None
    ) -> None:
        """Take the arguments of `graph_colouring`."""
        pairs, n = pairs_of(edges)
        self._first, self._other, _ = neighbours(pairs, np.ones(len(pairs), np.int64), n)
        self.counts = colours is None
        if colours is None:
            colours = _greedy(self._first, self._other)
        self.colours = whole_number("colours", colours, _MOST)
        if n * self.colours > _LARGEST:
            raise UsageError(
                f"edges: {n} nodes with {self.colours} colours need a table of more than"
                f" {_LARGEST} numbers. Pass fewer colours"
            )
        self.edges = np.unique(np.sort(pairs, axis=1), axis=0)
        statement = Statement(
            cost=text_of("graph_colouring"),
            state=text_of("graph_colouring_state"),
            name=name_or(name, f"colouring-{n}-{self.colours}"),
        )
        super().__init__(Choices(n, sizes=self.colours), statement)

    def constants(self) -> dict[str, int | bool]:
        """Return whether the colours in use have a cost, and a number that most graphs share.

        So graphs with a few colours more or less need no program of their own.
        """
        most = max(_SHARED, 1 << (self.colours - 1).bit_length())
        return {"MOST": most, "COUNTS": self.counts}

    def data(self) -> dict[str, Any]:
        """Return the neighbours of each node, and the number of colours."""
        colours = np.int32(self.colours)
        return {"first": self._first, "other": self._other, "colours": colours}

    def exact(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the cost of each solution."""
        one, two = self.edges.T
        clashes = (solutions[:, one] == solutions[:, two]).sum(axis=1)
        used = np.array([len(np.unique(each)) for each in solutions])
        return np.asarray(2 * clashes + used if self.counts else clashes)

    def draw(self, solution: Any, axes: Any) -> None:
        """Draw the graph, with the nodes of each colour next to each other."""
        draw_graph(axes, self.edges, solution)

    def _plain(self) -> Colouring | None:
        """Return the graph; None if the number of colours is given."""
        if not self.counts:
            return None
        return Colouring(self.colours, self.size, self.edges[np.lexsort(self.edges.T)])


@explained
def graph_colouring(
    edges: ArrayLike, colours: int | None = None, *, name: str | None = None
) -> GraphColouring:
    """Return the problem of colours for nodes such that no edge joins two of the same colour.

    `edges` is a row of two nodes for each edge; nodes are numbered from 0. The cost is the number
    of colours in use, and 2 for each edge within a colour. With `colours`, that many are allowed,
    and the cost is the number of edges within a colour. A solution is the colour of each node.

    >>> problem = islands.models.graph_colouring([[0, 1], [1, 2], [2, 0], [2, 3]])
    >>> islands.solve(problem, generations=20).cost
    3
    """
    return GraphColouring(edges, colours, name=name)


def _greedy(first: NDArray[np.int64], other: NDArray[np.int32]) -> int:
    """Return how many colours are needed if nodes take the first free one, the busiest first."""
    colour = np.full(len(first) - 1, -1, np.int32)
    degree = np.diff(first)
    order = np.argsort(-degree, kind="stable")[: np.count_nonzero(degree)]
    for i in order.tolist():
        taken = set(colour[other[first[i] : first[i + 1]]].tolist())
        colour[i] = next(c for c in range(len(colour)) if c not in taken)
    return int(colour.max()) + 1


def read(path: Path) -> Model:
    """Return the problem in a file of DIMACS: lines 'p edge nodes edges' and 'e node node'."""
    with NumberFile.open(path) as file:
        nodes, n = array("q"), MOST_NODES
        while (line := file.line()) is not None:
            if line[0] in (b"p", b"e") and len(line) < 3:
                form = "p edge nodes edges" if line[0] == b"p" else "e node node"
                text = shown(b" ".join(line))
                raise file.error(f"{text} is not of the form '{form}'. Correct it")
            if line[0] == b"p":
                n = file.whole(line[2], "numbers of nodes", 1, MOST_NODES)
            elif line[0] == b"e":
                file.lines.allow(3)
                nodes.extend(file.whole(each, "nodes", 1, n) for each in line[1:3])
                require_size("its edges", len(nodes), "numbers", MOST_NUMBERS, file.error)
        if not nodes:
            raise file.error("has no lines 'e node node' with nodes from 1. Name another file")
        return graph_colouring(np.array(nodes).reshape(-1, 2) - 1)
