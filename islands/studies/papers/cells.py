"""The parts of a table: cells, facts below it, figures that a paper printed, and tests."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

from islands.studies.significance import mann_whitney, signed_rank


class Scaled(float):
    """A time that was scaled from a shorter run; it is printed with a `~`."""

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
    """A sentence below a table, and the summary values that it states, by name."""

    sentence: str
    values: Mapping[str, Cell]


@dataclass(frozen=True)
class Plot:
    """Columns to plot against the size of the instances."""

    curves: Mapping[str, str]
    """The label of each column that is a curve; `{device}` in it stands for ours. A plot of gaps
    has no logarithmic axis, as they may be 0."""
    quantity: str = "seconds per run"
    """The label of the y axis, with the unit."""
    suffix: str = ""
    """Suffix of the file name, after the table's name."""
    by: str = ""
    """A column; each of its values has its own curves."""
    logarithmic: bool = True
    classes: str = ""
    """A column of names at equal distances on the horizontal axis, in place of sizes."""
    with_times: bool = False
    """Whether our times and those of our CPU are the first curves."""


def numbers(rows: Iterable[TableRow], *names: str) -> list[tuple[float, ...]]:
    """Return the numbers of the given columns for the rows that have all of them."""
    picked = ([row.get(name) for name in names] for row in rows)
    return [
        tuple(float(cell) for cell in cells if cell is not None)
        for cells in picked
        if None not in cells
    ]


def matching(rows: Iterable[TableRow], **cells: Cell) -> list[TableRow]:
    """Return the rows with these cells."""
    return [row for row in rows if all(row[name] == cell for name, cell in cells.items())]


def mean(rows: Iterable[TableRow], name: str) -> float:
    """Return the mean of a column, which must not be empty."""
    return fmean(value for (value,) in numbers(rows, name))


def mean_ratio(rows: Iterable[TableRow], slow: str, fast: str) -> float:
    """Return the mean of the row ratios of two columns (not the ratio of their means)."""
    return fmean(a / b for a, b in numbers(rows, slow, fast))


def with_printed(mean: float, printed: float, *, is_whole: bool) -> str:
    """Return the mean of a paper's rows as text; if `is_whole`, also the mean that it printed.

    The two may differ: papers truncate means and have misprints.
    """
    return f"{mean:.2f} (printed: {printed:.2f})" if is_whole else f"{mean:.2f}"


def named(prefix: str, values: Mapping[Any, Cell]) -> dict[str, Cell]:
    """Return values whose names begin with the same words."""
    return {f"{prefix}_{key}": value for key, value in values.items()}


def average(parts: Sequence[TableRow], name: str) -> float | None:
    """Return the mean of a column over the instances that have a value."""
    values = [value for (value,) in numbers(parts, name)]
    if not values:
        return None
    is_scaled = any(isinstance(row.get(name), Scaled) for row in parts)
    return (Scaled if is_scaled else float)(fmean(values))


def least(parts: Sequence[TableRow], name: str) -> float | None:
    """Return the smallest value of a column."""
    return min((value for (value,) in numbers(parts, name)), default=None)


def total(parts: Sequence[TableRow], name: str) -> int:
    """Return the sum of a column of counts."""
    return sum(int(value) for (value,) in numbers(parts, name))


def standard_error(parts: Sequence[TableRow]) -> float | None:
    """Return the standard error of the mean gap over these instances, from the runs' deviations.

    None if no instance has a deviation.
    """
    drawn = numbers(parts, "deviation", "runs", "without")
    variances = [deviation**2 / (runs - without) for deviation, runs, without in drawn]
    return sqrt(sum(variances)) / len(variances) if variances else None


@cache
def printed_rows(name: str) -> list[Figures]:
    """Return the rows of a file of printed figures, whose comments name the source.

    A column of numbers has numbers, whole ones if all of them are.
    """
    text = (_PRINTED / f"{name}.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(row for row in text.splitlines() if not row.startswith("#")))
    kinds = {column: _kind_of([row[column] for row in rows]) for column in rows[0]}
    return [{column: kinds[column](cell) for column, cell in row.items()} for row in rows]


def _kind_of(texts: Iterable[str]) -> type[Any]:
    """Return the type of the cells of a column."""
    for kind in (int, float):
        try:
            list(map(kind, texts))
        except ValueError:
            continue
        return kind
    return str


@cache
def figures(name: str, by: str = "") -> Mapping[str, Figures]:
    """Return the printed figures by instance; or, in each, by the values of another column."""
    table: dict[str, Any] = {}
    for row in printed_rows(name):
        if by:
            table.setdefault(row["instance"], {})[row[by]] = row
        else:
            table[row["instance"]] = row
    return table


def significance(
    name: str,
    words: str,
    pairs: Sequence[tuple[float, ...]],
    scaled: Sequence[tuple[float, ...]] | None = None,
) -> list[Fact]:
    """Return the fact of Wilcoxon's and of Mann and Whitney's test of ours against theirs.

    The second test ignores which values are a pair, so it takes `scaled` values if instances have
    costs of different sizes. Smaller is better. Without pairs, there is no fact.
    """
    if not pairs:
        return []
    paired, free = signed_rank(pairs), mann_whitney(*zip(*(scaled or pairs), strict=True))
    values: dict[str, Cell] = {
        f"wilcoxon_p_{name}": paired.p,
        f"wilcoxon_better_{name}": paired.better,
        f"mann_whitney_p_{name}": free.p,
        f"effect_a_{name}": free.a,
    }
    return [Fact(f"{words}: {paired.words()}; {free.words()}", values)]
