"""Maximum diversity: choose a given number of items that are far from each other."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.errors import UsageError
from islands.modelling.kinds import subsets_of, whole_number
from islands.models.base import ReadyModel, function_of
from islands.models.files import NumberFile
from islands.models.numbers import MOST_REAL
from islands.models.plain import Quadratic
from islands.problems.arguments import name_or, read_array, reals, require_shape, require_sum


class MaxDiversity(ReadyModel):
    """Choose `size` items with the largest sum of the distances between all pairs.

    `distances` is a symmetric matrix of n items. A solution has 1 for each chosen item.

    >>> problem = islands.models.max_diversity([[0, 1, 5], [1, 0, 2], [5, 2, 0]], 2)
    >>> islands.solve(problem, generations=20).cost
    5.0
    """

    _cost_file, _state_files = "max_diversity", ("max_diversity_state", "exchanges")
    _is_cooperative = True

    distances: NDArray[np.float64]
    """The distances between items; 0 from an item to itself."""
    chosen: int
    """The number of items that are chosen."""

    def __init__(self, distances: ArrayLike, size: int, *, name: str | None = None) -> None:
        self.distances = reals("distances", read_array("distances", distances, 2), MOST_REAL)
        require_sum("distances", self.distances, MOST_REAL)
        n = len(self.distances)
        require_shape("distances", self.distances, (n, n), "a row and a column for each item")
        if not np.array_equal(self.distances, self.distances.T):
            raise UsageError("distances: must be symmetric. Pass the mean of both directions")
        self.chosen = whole_number("size", size, n)
        np.fill_diagonal(self.distances, 0)
        self._price_of_one = float(2 * np.abs(self.distances).sum(axis=1).max()) + 1
        name = name_or(name, f"diversity-{n}-{self.chosen}")
        super().__init__(subsets_of(n, self.choose), name, maximise=True)

    def data(self) -> dict[str, Any]:
        """Return the distances, the size, and the cost of each item too many or too few."""
        return {"distance": self.distances, "size": self.chosen, "price": self._price_of_one}

    def exact(self, chosen: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of distances of each solution."""
        x = chosen.astype(np.float64)
        pairs = (x @ self.distances * x).sum(axis=1) / 2
        return np.asarray(pairs - self._price_of_one * np.abs(x.sum(axis=1) - self.chosen))

    def _plain(self) -> Quadratic:
        """Return the sum of distances as a quadratic form."""
        n = len(self.distances)
        one, two = np.tril_indices(n, -1)
        pairs = one, two, -self.distances[one, two]
        return Quadratic(np.zeros(n), pairs, -1, self.chosen, self._price_of_one)


max_diversity = function_of(MaxDiversity, "max_diversity")


def read(path: Path) -> MaxDiversity:
    """Return the problem in a file: the number of items, the number to choose, and distances.

    Each distance is on a line with its two items, which are numbered from 0.
    """
    with NumberFile.open(path) as file:
        n, size = file.numbers(2, "sizes", 1)
        file.expect(f"a choice from {n} items", 3 * n * (n - 1) // 2)
        distance = np.full((n, n), np.nan)
        np.fill_diagonal(distance, 0)
        while (line := file.line()) is not None:
            if len(line) != 3:
                raise file.wrong_form(line, "i j distance")
            i, j = (file.whole(word, "items", 0, n - 1) for word in line[:2])
            distance[i, j] = distance[j, i] = file.real(line[2], "distances")
        if (missing := np.argwhere(np.isnan(distance))).size:
            i, j = missing[0].tolist()
            raise file.error(f"the distance of items {i} and {j} is missing. Get the file again")
        return max_diversity(distance, size)
