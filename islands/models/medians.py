"""p-median: choose a given number of places that are close to all customers."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.errors import UsageError
from islands.instances.sizes import MOST_IN_MATRIX, require_size
from islands.modelling.kinds import subsets_of, whole_number
from islands.models.base import ReadyModel, function_of
from islands.models.files import NumberFile
from islands.models.graphs import read_edges
from islands.models.numbers import LARGEST_SUM
from islands.models.plain import Medians
from islands.problems.arguments import integers, name_or, read_array

_DIVIDED = "some nodes are not connected. Specify a file whose graph is connected"


class PMedian(ReadyModel):
    """Choose `p` places with the smallest sum of the distances of all customers.

    `distances` has a row for each customer and a column for each place: whole numbers of at least
    0, possibly multiplied by the demand of the customer. Customers go to the nearest chosen place.
    A solution has 1 for each chosen place.

    >>> problem = islands.models.p_median([[0, 3, 9], [3, 0, 7], [9, 7, 0]], 2)
    >>> islands.solve(problem, generations=20).cost
    3
    """

    _cost_file, _state_files = "p_median", ("p_median_state", "exchanges")
    _is_cooperative = True

    distances: NDArray[np.int64]
    """The distance from each customer to each place."""
    p: int
    """The number of chosen places."""

    def __init__(self, distances: ArrayLike, p: int, *, name: str | None = None) -> None:
        self.distances = integers("distances", read_array("distances", distances, 2), 2**31 - 2)
        customers, n = self.distances.shape
        self.p = whole_number("p", p, n)
        self._far = far = int(self.distances.max()) + 1
        self._price_of_one = price = far * customers + 1
        if price * n >= LARGEST_SUM:
            raise UsageError(
                f"distances: costs may reach {price * n}, the largest distance times customers and"
                f" places, but must be below {LARGEST_SUM}. Use a larger unit"
            )
        self._of_places = np.ascontiguousarray(self.distances.T).astype(np.int32)
        name = name_or(name, f"pmedian-{customers}x{n}-{self.p}")
        super().__init__(subsets_of(n, self.choose), name)

    def data(self) -> dict[str, Any]:
        """Return the sizes, the distances, and the cost of each place too many or too few."""
        return {
            "customers": len(self.distances),
            "way": self._of_places,
            "size": self.p,
            "far": self._far,
            "price": self._price_of_one,
        }

    def exact(self, chosen: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of the distances of each solution."""
        costs = [
            self.distances[:, solution == 1].min(axis=1, initial=self._far).sum(dtype=np.int64)
            + self._price_of_one * abs(int(solution.sum()) - self.p)
            for solution in chosen
        ]
        return np.array(costs, np.int64)

    def draw(self, solution: Any, axes: Any) -> None:
        """Plot the nearest chosen place of each customer."""
        chosen = np.flatnonzero(np.asarray(solution))
        nearest = chosen[self.distances[:, chosen].argmin(axis=1)]
        axes.scatter(nearest, range(len(nearest)), c=[f"C{place % 10}" for place in nearest], s=4)
        axes.set(xlabel="place", ylabel="customer")

    def _plain(self) -> Medians:
        """Return the distances, with a row for each place."""
        return Medians(self._of_places, self.p)


p_median = function_of(PMedian, "p_median")


def read(path: Path) -> PMedian:
    """Return the problem in a file of OR-Library: numbers of nodes and edges, p; then the edges.

    Each node is a customer and a place; distances are those of shortest paths. Of several edges
    between two nodes, the last one counts.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    with NumberFile.open(path) as file:
        n, m, p = file.numbers(3, "sizes", 1)
        require_size("its network", n, "nodes", MOST_IN_MATRIX, file.error)
        if m < n - 1:
            raise file.error(_DIVIDED)
        edges = read_edges(file, n, m)
        keys = edges[:, :2].min(axis=1) * (n + 1) + edges[:, :2].max(axis=1)
        _, last = np.unique(keys[::-1], return_index=True)
        one, other, length = (edges[::-1][last] - [1, 1, 0]).T
        graph = csr_array((length.astype(np.float64), (one, other)), shape=(n, n))
        distances = dijkstra(graph, directed=False)
        if not np.isfinite(distances).all():
            raise file.error(_DIVIDED)
        return p_median(distances.astype(np.int64), p)
