"""Graph colouring: few colours, such that no edge joins two nodes of the same colour."""

from array import array
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.errors import UsageError
from islands.instances.sizes import MOST_NODES, MOST_NUMBERS, require_size
from islands.modelling.kinds import whole_number
from islands.models.base import ReadyModel, function_of
from islands.models.drawing import draw_graph
from islands.models.files import NumberFile
from islands.models.graphs import neighbours, pairs_of
from islands.models.plain import Colouring
from islands.problems.arguments import name_or
from islands.problems.solution_kinds import ChoicesKind

_MOST = 1 << 16
"""Maximum number of colours: the cost function has a bit for each."""
_SHARED = 64
"""Up to this many colours, all graphs share a program."""
_LARGEST = 1 << 28
"""Maximum number of pairs of a node and a colour: each search has a table of them."""


class GraphColouring(ReadyModel):
    """Colour the nodes of a graph such that no edge joins two nodes of the same colour.

    `edges` has a row of two nodes for each edge; nodes are numbered from 0. The cost is the number
    of colours used, plus 2 for each edge within a colour. With `colours`, only this many colours
    are available, and the cost is the number of edges within a colour. A solution has the colour of
    each node.

    >>> problem = islands.models.graph_colouring([[0, 1], [1, 2], [2, 0], [2, 3]])
    >>> islands.solve(problem, generations=20).cost
    3
    """

    _cost_file, _state_files = "graph_colouring", ("graph_colouring_state",)

    edges: NDArray[np.int64]
    """The two nodes of each edge, without duplicates."""
    colours: int
    """The number of colours that may be used."""
    counts: bool
    """Whether the number of colours used is part of the cost."""

    # With `searches`, random graphs of 250 and 500 nodes needed 29 and 51 colours after 4 million
    # steps; without it, 28 and 50 or 51, with two seeds.
    searches = False

    def __init__(
        self, edges: ArrayLike, colours: int | None = None, *, name: str | None = None
    ) -> None:
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
        name = name_or(name, f"colouring-{n}-{self.colours}")
        super().__init__(ChoicesKind(n, sizes=self.colours), name)

    def constants(self) -> dict[str, int | bool]:
        """Return whether used colours have a cost, and an upper limit on their number.

        The limit is rounded up, so that graphs with similar numbers of colours share a program.
        """
        most = max(_SHARED, 1 << (self.colours - 1).bit_length())
        return {"MOST": most, "COUNTS": self.counts}

    def data(self) -> dict[str, Any]:
        """Return the neighbours of each node and the number of colours."""
        colours = np.int32(self.colours)
        return {"first": self._first, "other": self._other, "colours": colours}

    def exact(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return the cost of each solution."""
        one, two = self.edges.T
        clashes = (solutions[:, one] == solutions[:, two]).sum(axis=1)
        used = np.array([len(np.unique(solution)) for solution in solutions])
        return np.asarray(2 * clashes + used if self.counts else clashes)

    def draw(self, solution: Any, axes: Any) -> None:
        """Draw the graph, with the nodes of each colour next to each other."""
        draw_graph(axes, self.edges, solution)

    def _plain(self) -> Colouring | None:
        """Return the graph; None if the number of colours is given."""
        if not self.counts:
            return None
        return Colouring(self.colours, self.size, self.edges[np.lexsort(self.edges.T)])


graph_colouring = function_of(GraphColouring, "graph_colouring")


def _greedy(first: NDArray[np.int64], other: NDArray[np.int32]) -> int:
    """Return the number of colours of a greedy colouring, by decreasing degree."""
    colour = np.full(len(first) - 1, -1, np.int32)
    degree = np.diff(first)
    order = np.argsort(-degree, kind="stable")[: np.count_nonzero(degree)]
    for i in order.tolist():
        taken = set(colour[other[first[i] : first[i + 1]]].tolist())
        colour[i] = next(c for c in range(len(colour)) if c not in taken)
    return int(colour.max()) + 1


def read(path: Path) -> GraphColouring:
    """Return the problem in a DIMACS file: lines 'p edge nodes edges' and 'e node node'."""
    with NumberFile.open(path) as file:
        nodes, n = array("q"), MOST_NODES
        while (line := file.line()) is not None:
            if line[0] in (b"p", b"e") and len(line) < 3:
                form = "p edge nodes edges" if line[0] == b"p" else "e node node"
                raise file.wrong_form(line, form)
            if line[0] == b"p":
                n = file.whole(line[2], "numbers of nodes", 1, MOST_NODES)
            elif line[0] == b"e":
                file.lines.allow(3)
                nodes.extend(file.whole(word, "nodes", 1, n) for word in line[1:3])
                require_size("its edges", len(nodes), "numbers", MOST_NUMBERS, file.error)
        if not nodes:
            raise file.error("has no lines 'e node node' with nodes from 1. Specify another file")
        return graph_colouring(np.array(nodes).reshape(-1, 2) - 1)
