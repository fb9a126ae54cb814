"""Maximum diversity: a given number of items that are far from each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.calls import explained
from islands.errors import UsageError
from islands.instances.lines import shown
from islands.modelling.kinds import chosen_of, whole_number
from islands.modelling.model import Model
from islands.modelling.statement import Statement
from islands.models.files import NumberFile
from islands.models.numbers import real
from islands.models.plain import Quadratic
from islands.models.texts import text_of
from islands.problems.data import name_or, require_shape


class MaxDiversity(Model):
    """The problem of `max_diversity`."""

    distances: NDArray[np.float64]
    """The distance of each pair of items; 0 from an item to itself."""
    chosen: int
    """The number of items that are chosen."""

    def __init__(self, distances: ArrayLike, size: int, *, name: str | None = None) -> None:
        """Take the arguments of `max_diversity`."""
        self.distances = real("distances", distances, 2)
        n = len(self.distances)
        require_shape("distances", self.distances, (n, n), "a row and a column for each item")
        if not np.array_equal(self.distances, self.distances.T):
            raise UsageError("distances: differ in both directions. Pass their means")
        self.chosen = whole_number("size", size, n)
        np.fill_diagonal(self.distances, 0)
        self._price_of_one = float(2 * np.abs(self.distances).sum(axis=1).max()) + 1
        statement = Statement(
            cost=text_of("max_diversity"),
            state=text_of("max_diversity_state", "exchanges"),
            cooperative=True,
            maximise=True,
            name=name_or(name, f"diversity-{n}-{self.chosen}"),
        )
        super().__init__(chosen_of(n, self.choose), statement)

    def data(self) -> dict[str, Any]:
        """Return the distances, and what an item too many or too few costs."""
        return {"distance": self.distances, "size": self.chosen, "price": self._price_of_one}

    def exact(self, chosen: NDArray[Any]) -> NDArray[Any]:
        """Return the sum of each solution."""
        x = chosen.astype(np.float64)
        pairs = (x @ self.distances * x).sum(axis=1) / 2
        return np.asarray(pairs - self._price_of_one * np.abs(x.sum(axis=1) - self.chosen))

    def _plain(self) -> Quadratic:
        """Return the distances as numbers of pairs."""
        n = len(self.distances)
        one, two = np.tril_indices(n, -1)
        pairs = one, two, -self.distances[one, two]
        return Quadratic(np.zeros(n), pairs, -1, self.chosen, self._price_of_one)


@explained
def max_diversity(distances: ArrayLike, size: int, *, name: str | None = None) -> MaxDiversity:
    """Return the problem of `size` items with the largest sum of the distances of all pairs.

    `distances` are those of n items, a symmetric matrix. A solution has 1 for the chosen items.

    >>> problem = islands.models.max_diversity([[0, 1, 5], [1, 0, 2], [5, 2, 0]], 2)
    >>> islands.solve(problem, generations=20).cost
    5.0
    """
    return MaxDiversity(distances, size, name=name)


def read(path: Path) -> Model:
    """Return the problem in a file: items and size; for each pair, two items from 0, distance."""
    with NumberFile.open(path) as file:
        n, size = file.numbers(2, "sizes", 1)
        # Each pair has a line.
        file.expect(f"a choice from {n} items", 3 * n * (n - 1) // 2)
        distance = np.full((n, n), np.nan)
        np.fill_diagonal(distance, 0)
        while (line := file.line()) is not None:
            if len(line) != 3:
                text = shown(b" ".join(line))
                raise file.error(f"{text} is not of the form 'i j distance'. Correct it")
            i, j = (file.whole(word, "items", 0, n - 1) for word in line[:2])
            distance[i, j] = distance[j, i] = file.real(line[2], "distances")
        if (missing := np.argwhere(np.isnan(distance))).size:
            i, j = missing[0].tolist()
            raise file.error(f"the distance of items {i} and {j} is missing. Get the file again")
        return max_diversity(distance, size)
