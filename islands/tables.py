"""Tables of results: columns, and rows as text, CSV, JSON and Markdown."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any

from islands.inside import inside
from islands.paths import published
from islands.text import escaped


@dataclass(frozen=True)
class Column:
    """A column: its name in files and in JSON, and its format as text."""

    name: str
    """The key in JSON and CSV; empty for a column that is only printed."""
    title: str = ""
    """Empty for a column that is not printed."""
    width: int = 0
    """The minimum width; a column is at least as wide as its title."""
    form: str | Callable[[Any], str] = ""
    """A Python format such as `.2f`, or a function; `<` aligns cells and title to the left."""
    value: Callable[[Any], object] | None = None
    """Returns the cell of a measured object; if None, the cell is the attribute with the column's
    name. For a column without a name, it is called with the row."""
    group: str = ""
    """A common title above adjacent columns with the same group."""

    def text(self, row: object) -> str:
        """Return the cell of a row, or of a measured object, as text; `-` for None."""
        is_cell = bool(self.name) and isinstance(row, Mapping)
        value = row.get(self.name) if is_cell else self.of(row)  # type: ignore[attr-defined]
        if value is None:
            return self.aligned("-")
        text = self.form(value) if callable(self.form) else format(value, self.form)
        return self.aligned(escaped(text, kept=""))

    def aligned(self, text: str) -> str:
        """Return text padded to the width of the column."""
        is_left = isinstance(self.form, str) and self.form.startswith("<")
        return f"{text:{'<' if is_left else '>'}{self.full_width}}"

    @property
    def full_width(self) -> int:
        """The width of the column."""
        return max(self.width, len(self.title))

    def of(self, measured: object) -> object:
        """Return the cell of a measured object."""
        return getattr(measured, self.name) if self.value is None else self.value(measured)


def columns_of(kind: type[Any]) -> tuple[Column, ...]:
    """Return one column, which is not printed, for each field of a dataclass."""
    return tuple(Column(field.name) for field in fields(kind))


def header(columns: Sequence[Column]) -> str:
    """Return the line of titles, below a line with the titles of groups, if there are any."""
    printed = [column for column in columns if column.title]
    titles = ["  ".join(column.aligned(column.title) for column in printed).rstrip()]
    if any(column.group for column in printed):
        groups = list[str]()
        for name, members in groupby(printed, lambda column: column.group):
            width = sum(2 + column.full_width for column in members) - 2
            groups.append(f"{name:^{width}}")
        titles.insert(0, "  ".join(groups).rstrip())
    return "\n".join(titles)


def line(columns: Sequence[Column], row: object) -> str:
    """Return a row as text, aligned with `header`."""
    return "  ".join(column.text(row) for column in columns if column.title).rstrip()


def fitted(sides: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines, with columns as wide as their widest cells.

    `sides` has `<` or `>` for every column.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "   ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


FORMULA = r"(?s)^'*[=+\-@]."
"""The beginning of text that spreadsheets evaluate, possibly after apostrophes."""
_FORMULA = re.compile(FORMULA)


def cells(row: Mapping[str, object]) -> dict[str, object]:
    """Return the cells of a row for a file, with an apostrophe before text that is a formula.

    Otherwise, spreadsheets could evaluate it. Numbers are unchanged.
    """
    return {name: f"'{cell}" if _is_formula(cell) else cell for name, cell in row.items()}


def _is_formula(cell: object) -> bool:
    if not isinstance(cell, str) or not _FORMULA.match(cell):
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False


@dataclass(frozen=True)
class Table:
    """A table with fixed columns."""

    name: str
    columns: Sequence[Column]
    above: str = ""
    """Lines above the titles."""

    @property
    def header(self) -> str:
        """The lines in `above`, and the titles of the printed columns."""
        return "\n".join(filter(None, [self.above, header(self.columns)]))

    def row(self, **cells: object) -> Row:
        """Return a row with these cells, one for every column that has a name."""
        if wrong := cells.keys() ^ {*self._names}:
            raise TypeError(f"table {self.name}: {', '.join(sorted(wrong))}")
        return Row(self, {name: cells[name] for name in self._names})

    def row_of(self, measured: object) -> Row:
        """Return the row of a measured object."""
        return Row(
            self, {column.name: column.of(measured) for column in self.columns if column.name}
        )

    @property
    def _names(self) -> list[str]:
        return [column.name for column in self.columns if column.name]

    def write(self, folder: Path, rows: Iterable[Mapping[str, object]], end: str = "\r\n") -> Path:
        """Write rows to NAME.csv in a folder, atomically, and return its path.

        Cells that a row lacks are empty.
        """
        path = inside(folder, f"{self.name}.csv")
        with (
            published(path) as temporary,
            temporary.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.DictWriter(stream, self._names, lineterminator=end)
            writer.writeheader()
            writer.writerows(map(cells, rows))
        return path


class Row(dict[str, Any]):
    """The cells of a row by the names of their columns, as in JSON and CSV files.

    Other ranks receive a plain dict, as MPI cannot send the functions of a table.
    """

    def __init__(self, table: Table, cells: Mapping[str, object]) -> None:
        super().__init__(cells)
        self.table = table

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def line(self) -> str:
        """Return the row as text, aligned with the header of its table."""
        return line(self.table.columns, self)

    def but(self, **cells: object) -> Row:
        """Return a copy with some cells replaced."""
        return self.table.row(**{**self, **cells})
