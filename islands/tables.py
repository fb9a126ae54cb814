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
    """A column: its name in files and in JSON, and its form as text."""

    name: str
    """The key in JSON and CSV; empty for a column that is only printed."""
    title: str = ""
    """Empty for a column that text does not have."""
    width: int = 0
    """The least width; a column is at least as wide as its title."""
    form: str | Callable[[Any], str] = ""
    """A Python format such as `.2f`, or a function; `<` aligns cells and title to the left."""
    value: Callable[[Any], object] | None = None
    """Takes the cell from what was measured; None takes the attribute with the column's name. Of a
    column without a name, takes it from the row."""
    group: str = ""
    """A title above those of columns next to each other that have the same group."""

    def text(self, row: object) -> str:
        """Return the cell of a row, or of what was measured, as text; `-` for None."""
        is_cell = bool(self.name) and isinstance(row, Mapping)
        value = row.get(self.name) if is_cell else self.of(row)  # type: ignore[attr-defined]
        if value is None:
            return self.aligned("-")
        text = self.form(value) if callable(self.form) else format(value, self.form)
        return self.aligned(escaped(text, kept=""))

    def aligned(self, text: str) -> str:
        """Return text in the width of the column."""
        is_left = isinstance(self.form, str) and self.form.startswith("<")
        return f"{text:{'<' if is_left else '>'}{self.full_width}}"

    @property
    def full_width(self) -> int:
        """The width of the column."""
        return max(self.width, len(self.title))

    def of(self, measured: object) -> object:
        """Return the cell of what was measured."""
        return getattr(measured, self.name) if self.value is None else self.value(measured)


def columns_of(kind: type[Any]) -> tuple[Column, ...]:
    """Return a column, which text does not have, for each field of a dataclass."""
    return tuple(Column(each.name) for each in fields(kind))


def header(columns: Sequence[Column]) -> str:
    """Return the line of titles, below a line of the titles of groups if there are any."""
    shown = [each for each in columns if each.title]
    titles = ["  ".join(each.aligned(each.title) for each in shown).rstrip()]
    if any(each.group for each in shown):
        groups = [
            (name, list(members)) for name, members in groupby(shown, lambda each: each.group)
        ]
        widths = [sum(2 + each.full_width for each in members) - 2 for _, members in groups]
        names = [f"{name:^{width}}" for (name, _), width in zip(groups, widths, strict=True)]
        titles.insert(0, "  ".join(names).rstrip())
    return "\n".join(titles)


def line(columns: Sequence[Column], row: object) -> str:
    """Return a row as text, aligned with `header`."""
    return "  ".join(each.text(row) for each in columns if each.title).rstrip()


def fitted(sides: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines, each column as wide as its widest cell.

    `sides` has `<` or `>` for each column.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "   ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


FORMULA = r"(?s)^'*[=+\-@]."
"""The beginning of a text that spreadsheets compute, perhaps behind apostrophes."""
_FORMULA = re.compile(FORMULA)


def cells(row: Mapping[str, object]) -> dict[str, object]:
    """Return the cells of a row for a file; spreadsheets compute no text as a formula.

    An apostrophe precedes such a text; numbers stay.
    """
    return {name: f"'{each}" if _is_formula(each) else each for name, each in row.items()}


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
    """A table whose columns do not depend on what is measured."""

    name: str
    columns: Sequence[Column]
    above: str = ""
    """Lines above the titles."""

    @property
    def header(self) -> str:
        """The titles, below the lines above them; empty if text has no column."""
        return "\n".join(filter(None, [self.above, header(self.columns)]))

    def row(self, **cells: object) -> Row:
        """Return a row with these cells, one for each column that has a name."""
        if wrong := cells.keys() ^ {each.name for each in self.columns if each.name}:
            raise TypeError(f"table {self.name}: {', '.join(sorted(wrong))}")
        return Row(self, {each.name: cells[each.name] for each in self.columns if each.name})

    def row_of(self, measured: object) -> Row:
        """Return the row of what was measured, as the columns say."""
        return Row(self, {each.name: each.of(measured) for each in self.columns if each.name})

    def write(self, folder: Path, rows: Iterable[Mapping[str, object]], end: str = "\r\n") -> Path:
        """Write rows to NAME.csv in a folder, and return its path; a row may lack cells.

        The file is never seen incomplete.
        """
        path = inside(folder, f"{self.name}.csv")
        names = [each.name for each in self.columns if each.name]
        with (
            published(path) as temporary,
            temporary.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.DictWriter(stream, names, lineterminator=end)
            writer.writeheader()
            writer.writerows(map(cells, rows))
        return path


class Row(dict[str, Any]):
    """The cells of one row by the names of their columns, as JSON and CSV files have them.

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
        """Return a copy with other cells."""
        return self.table.row(**{**self, **cells})
