"""What a table is made of: columns, cells, and the facts that close it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean


class Scaled(float):
    """A time that was worked out from fewer generations than it stands for; shown with a `~`."""

    def __format__(self, form: str) -> str:
        return f"~{float(self):{form}}"


Cell = str | int | float | None
Row = Mapping[str, Cell]
"""The cells of one instance by the names of their columns; None where there was no run."""


@dataclass(frozen=True)
class Column:
    """A column: its name in files, and how people see it."""

    name: str
    title: str = ""
    """Empty for a column that only files show."""
    width: int = 0
    form: str = ""
    """A format of Python's, such as `.2f`."""

    def text(self, row: Row) -> str:
        """Return this column's cell of a row, as wide as the column."""
        value = row.get(self.name)
        shown = "-" if value is None else format(value, self.form)
        return shown.ljust(self.width) if isinstance(value, str) else shown.rjust(self.width)


@dataclass(frozen=True)
class Fact:
    """A number or a word that sums a table up, and its sentence, unless another one says it."""

    name: str
    value: Cell
    sentence: str


@dataclass(frozen=True)
class Plot:
    """Columns to plot against the size of the instances."""

    quantity: str
    """In words, with the unit."""
    curves: Mapping[str, str]
    """The words of each column that is a curve."""
    suffix: str = ""
    """What the names of its files have behind the table's."""
    by: str = ""
    """A column each of whose words has curves of its own."""
    logarithmic: bool = True


INSTANCE = (Column("instance", "instance", 16), Column("cities", "cities", 6))
"""How the rows of tables of tours begin."""

ASSIGNMENT = (Column("instance", "instance", 15), Column("n", "n", 3))
"""How the rows of tables of assignments begin."""


def header(columns: Sequence[Column]) -> str:
    """Return the titles over the columns that people see."""
    titles = [column.title.rjust(column.width) for column in columns[1:] if column.title]
    return "  ".join([columns[0].title.ljust(columns[0].width), *titles])


def line(columns: Sequence[Column], row: Row) -> str:
    """Return a row under `header`."""
    return "  ".join(column.text(row) for column in columns if column.title)


def numbers(rows: Iterable[Row], *names: str) -> list[tuple[float, ...]]:
    """Return the numbers of some columns, of the rows that have all of them."""
    picked = ([row.get(name) for name in names] for row in rows)
    return [
        tuple(float(cell) for cell in cells if cell is not None)
        for cells in picked
        if None not in cells
    ]


def mean(rows: Iterable[Row], name: str) -> float:
    """Return the mean of a column that is not empty."""
    return fmean(value for (value,) in numbers(rows, name))


def mean_ratio(rows: Iterable[Row], slow: str, fast: str) -> float:
    """Return the mean of the ratios of two columns, which is not the ratio of their means."""
    return fmean(a / b for a, b in numbers(rows, slow, fast))
