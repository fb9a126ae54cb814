"""The contents of a table: its cells, the facts below it, and the figures that a paper printed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


class Scaled(float):
    """A time that is scaled from a shorter run, and printed with a `~`."""

    def __format__(self, form: str) -> str:
        return f"~{float(self):{form}}"


_PRINTED = Path(__file__).with_name("printed")

Cell = str | int | float | None
TableRow = Mapping[str, Cell]
"""The cells of one row by the names of their columns; None if there was no run."""
Figures = Mapping[str, Any]
"""A row of a file of printed figures."""


@dataclass(frozen=True)
class Fact:
    """A sentence below a table, and the values that it states, by name."""

    sentence: str
    values: Mapping[str, Cell]


@dataclass(frozen=True)
class Plot:
    """Columns to plot against the size of the instances."""

    curves: Mapping[str, str]
    """The label of each column that is drawn as a curve; `{device}` in a label is our device."""
    quantity: str = "seconds per run"
    """The label of the y axis, with the unit."""
    suffix: str = ""
    """Suffix of the file name, after the table's name."""
    by: str = ""
    """A column; each of its values has its own curves."""
    logarithmic: bool = True
    """Whether the y axis is logarithmic; false for gaps, which may be 0."""
    classes: str = ""
    """A column with the names that the x axis shows instead of sizes."""
    with_times: bool = False
    """Whether our times and those of our CPU are the first curves."""


def with_printed(mean: float, printed: float, *, is_whole: bool) -> str:
    """Return the mean of a paper's rows as text; if these are all (`is_whole`), also as printed.

    The two may differ: papers truncate means and have misprints.
    """
    return f"{mean:.2f} (printed: {printed:.2f})" if is_whole else f"{mean:.2f}"


@cache
def printed_rows(name: str) -> list[Figures]:
    """Return the rows of a file of printed figures, without the comments that name their source.

    The cells of a column are integers, floating-point numbers or text.
    """
    from pyarrow import csv

    path = _PRINTED / f"{name}.csv"
    comments = sum(line.startswith("#") for line in path.read_text(encoding="utf-8").splitlines())
    rows: list[Figures] = csv.read_csv(path, csv.ReadOptions(skip_rows=comments)).to_pylist()
    return rows


@cache
def figures(name: str, by: str = "") -> Mapping[str, Figures]:
    """Return the printed figures by instance and, within it, by the values of a column `by`."""
    if not by:
        return {row["instance"]: row for row in printed_rows(name)}
    table: dict[str, Any] = {}
    for row in printed_rows(name):
        table.setdefault(row["instance"], {})[row[by]] = row
    return table
