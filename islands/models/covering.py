"""Set covering: the cheapest columns that cover all rows."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.instances.sizes import MOST_NODES
from islands.modelling.kinds import subsets_of
from islands.modelling.texts import Text
from islands.models.base import ReadyModel, function_of, text_of
from islands.models.files import NumberFile
from islands.models.numbers import LARGEST_SUM, amounts, item_numbers, rows_of
from islands.models.plain import Covering
from islands.problems.arguments import name_or, require_sum


class SetCover(ReadyModel):
    """Find the cheapest columns that cover all rows.

    `costs` has a whole number for each column, all 1 for a unicost problem; `rows` lists, for each
    row, the columns that cover it, numbered from 0. A solution has 1 for each chosen column. A row
    that is not covered costs one more than its cheapest column, so that good solutions cover all.

    >>> problem = islands.models.set_cover([3, 2, 2], [[0, 1], [0, 2], [0]])
    >>> islands.solve(problem, generations=20).cost
    3
    """

    _cost_file, _state_files, _is_cooperative = "set_cover", ("set_cover_state",), True
    learns = True  # the state adapts weights of rows
    hooks: ClassVar[Mapping[str, Text]] = {"may_choose": text_of("set_cover_choice")}
    prices: NDArray[np.int64]
    """The cost of each column."""
    column: NDArray[np.int32]
    """The columns that cover each row, row by row."""
    row_first: NDArray[np.int64]
    """The start of each row in `column`, and the length of `column`."""

    def __init__(
        self, costs: ArrayLike, rows: Sequence[Sequence[int]], *, name: str | None = None
    ) -> None:
        self.prices = cost = amounts("costs", costs, 1, LARGEST_SUM)
        n = len(cost)
        columns_of_row = [
            np.unique(item_numbers(f"rows[{r}]", columns, 1, n))
            for r, columns in enumerate(rows_of("rows", rows))
        ]
        column = np.concatenate(columns_of_row)
        m = len(columns_of_row)
        row = np.repeat(np.arange(m), [len(columns) for columns in columns_of_row])
        self.row_first = np.searchsorted(row, np.arange(m + 1)).astype(np.int64)
        self.column, self._row = column.astype(np.int32), row
        least = [int(cost[columns].min()) for columns in columns_of_row]
        self._price_of_row = np.array(least, np.int64) + 1
        require_sum(
            "costs, and those of uncovered rows",
            np.concatenate([cost, self._price_of_row]),
            LARGEST_SUM,
        )
        name = name_or(name, f"setcover-{m}x{n}")
        super().__init__(subsets_of(n, self.choose), name)

    @property
    def rows(self) -> list[NDArray[np.int32]]:
        """The columns that cover each row."""
        return np.split(self.column, self.row_first[1:-1])

    def data(self) -> dict[str, Any]:
        """Return the costs, the columns of each row and the rows of each column."""
        order = np.lexsort((self._row, self.column))
        columns = np.arange(len(self.prices) + 1)
        return {
            "rows": len(self._price_of_row),
            "cost": self.prices,
            "price": self._price_of_row,
            "row_first": self.row_first,
            "column": self.column,
            "first": np.searchsorted(self.column[order], columns).astype(np.int64),
            "row": self._row[order].astype(np.int32),
        }

    def exact(self, chosen: NDArray[Any]) -> NDArray[Any]:
        """Return the cost of each solution."""
        rows = len(self._price_of_row)
        covering = (self._row[solution[self.column] == 1] for solution in chosen)
        is_covered = np.array([np.bincount(row, minlength=rows) > 0 for row in covering])
        return np.asarray(chosen @ self.prices + ~is_covered @ self._price_of_row)

    def draw(self, solution: Any, axes: Any) -> None:
        """Draw the chosen columns in the rows that they cover."""
        is_chosen = np.asarray(solution)[self.column] == 1
        rows = len(self._price_of_row)
        size = min(5.0, max(1.0, 250 / rows))
        axes.plot(self.column[is_chosen], self._row[is_chosen], "s", color="C0", markersize=size)
        limits = {"xlim": (-0.5, self.size - 0.5), "ylim": (rows - 0.5, -0.5)}
        axes.set(xlabel="column", ylabel="row", **limits)

    def _plain(self) -> Covering:
        """Return the costs of columns and the columns of rows."""
        return Covering(self.prices, self.column, self.row_first)


set_cover = function_of(SetCover, "set_cover")


def lp_bound(costs: ArrayLike, rows: Sequence[Sequence[int]]) -> float:
    """Return the optimum of the linear relaxation, a lower bound on the cost of covers."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    column = np.concatenate([np.asarray(columns) for columns in rows])
    row = np.repeat(np.arange(len(rows)), [len(columns) for columns in rows])
    matrix = csr_array(
        (-np.ones(len(row)), (row, column)), shape=(len(rows), len(np.asarray(costs)))
    )
    solved = linprog(costs, matrix, -np.ones(len(rows)), bounds=(0, 1), method="highs")
    return float(solved.fun)


def read(path: Path) -> SetCover:
    """Return the problem in a file of OR-Library: sizes, then one of three layouts.

    By rows: the costs of all columns; for each row, the number of columns that cover it, and these
    columns, numbered from 1. By columns: for each column, its cost, and its rows in the same form.
    Unicost: two numbers for each row, which are ignored, then the rows.
    """
    with NumberFile.open(path) as file:
        m, n = file.numbers(2, "sizes", 1, MOST_NODES)
        # Each row has at least one column, and each column covers at least one row.
        file.expect(f"a cover of {m} rows and {n} columns", max(2 * m, n))
        rest = file.rest("numbers")
        by_columns = _parts(rest, 0, n, m, ahead=1)
        if by_columns is not None:
            costs = [numbers[0] for numbers in by_columns]
            rows: list[list[int]] = [[] for _ in range(m)]
            for j, numbers in enumerate(by_columns):
                for row in numbers[1:]:
                    rows[row - 1].append(j)
        else:
            by_rows = _parts(rest, n, m, n)
            costs = [1] * n if by_rows is None else rest[:n].tolist()
            by_rows = by_rows if by_rows is not None else _parts(rest, 2 * m, m, n)
            if by_rows is None:
                raise file.error(
                    f"its numbers are not those of {m} rows and {n} columns in a layout of"
                    " OR-Library. Get the file again, or correct the sizes"
                )
            rows = [[column - 1 for column in row] for row in by_rows]
        return set_cover(costs, rows)


def _parts(
    numbers: array[int], at: int, count: int, high: int, ahead: int = 0
) -> list[array[int]] | None:
    """Return the parts of a list from index `at`, or None if they do not fill it exactly.

    A part has `ahead` numbers, a count, and as many numbers from 1 to `high`.
    """
    parts = []
    for _ in range(count):
        if at + ahead >= len(numbers):
            return None
        head = numbers[at : at + ahead]
        at += ahead + 1
        end = at + numbers[at - 1]
        part = numbers[at:end]
        if end > len(numbers) or not part or min(part) < 1 or max(part) > high:
            return None
        parts.append(head + part)
        at = end
    return parts if at == len(numbers) else None
