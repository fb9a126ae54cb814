"""Maximum diversity: a given number of items that are far from each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.calls import explained
from islands.errors import UsageError
from islands.instances.lines import shown
from islands.modelling.api import subset
from islands.modelling.kinds import whole_number
from islands.modelling.model import Model
from islands.models.files import NumberFile
from islands.models.numbers import real
from islands.models.plain import Quadratic
from islands.models.texts import text_of
from islands.problems.data import name_or, require_shape


@explained
def max_diversity(distances: ArrayLike, size: int, *, name: str | None = None) -> Model:
    """Return the problem of `size` items with the largest sum of the distances of all pairs.

    `distances` are those of n items, a symmetric matrix. A solution has 1 for the chosen items.

    >>> problem = islands.models.max_diversity([[0, 1, 5], [1, 0, 2], [5, 2, 0]], 2)
    >>> islands.solve(problem, generations=20).cost
    5.0
    """
    distance = real("distances", distances, 2)
    n = len(distance)
    require_shape("distances", distance, (n, n), "a row and a column for each item")
    if not np.array_equal(distance, distance.T):
        raise UsageError("distances: differ in both directions. Pass their means")
    size = whole_number("size", size, n)
    np.fill_diagonal(distance, 0)
    price = float(2 * np.abs(distance).sum(axis=1).max()) + 1

    def sums(chosen: NDArray[Any]) -> NDArray[Any]:
        x = chosen.astype(np.float64)
        pairs = (x @ distance * x).sum(axis=1) / 2
        return np.asarray(pairs - price * np.abs(x.sum(axis=1) - size))

    model = subset(
        n,
        cost=text_of("max_diversity"),
        state=text_of("exchanges", "max_diversity_state"),
        data={"distance": distance, "size": size, "price": price},
        cooperative=True,
        reference=sums,
        maximise=True,
        name=name_or(name, f"diversity-{n}-{size}"),
    )

    def plain() -> Quadratic:
        one, two = np.tril_indices(n, -1)
        pairs = one, two, -distance[one, two]
        return Quadratic(np.zeros(n), pairs, -1, size, price)

    model.plain = plain
    return model


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
