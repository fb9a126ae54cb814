"""The parts of a table: cells, facts below it, figures that a paper printed, and tests."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar, get_type_hints

from islands.statistics import mann_whitney, signed_rank
from islands.tables import Column


class Scaled(float):
    """A time that was scaled from a shorter run; it is printed with a `~`."""

    def __format__(self, form: str) -> str:
        return f"~{float(self):{form}}"


_PRINTED = Path(__file__).with_name("printed")
Figures = TypeVar("Figures")

Cell = str | int | float | None
TableRow = Mapping[str, Cell]
"""The cells of one row by the names of their columns; None if there was no run."""


@dataclass(frozen=True)
class Fact:
    """A summary value of a table, and its sentence; empty if another fact's sentence has it."""

    name: str
    value: Cell
    sentence: str = ""


@dataclass(frozen=True)
class Plot:
    """Columns to plot against the size of the instances."""

    quantity: str
    """The label of the y axis, with the unit."""
    curves: Mapping[str, str]
    """The label of each column that is a curve."""
    suffix: str = ""
    """Suffix of the file name, after the table's name."""
    by: str = ""
    """A column; each of its values has its own curves."""
    logarithmic: bool = True
    classes: str = ""
    """A column of names at equal distances on the horizontal axis, in place of sizes."""


INSTANCE = (
    Column("instance", "instance", 16, "<", lambda ran: ran.problem.instance),
    Column("cities", "cities", 6, value=lambda ran: ran.problem.size),
)
"""The first columns of tables of tours."""

ASSIGNMENT = (Column("instance", "instance", 15, "<"), Column("n", "n", 3))
"""The first columns of tables of assignments."""


def numbers(rows: Iterable[TableRow], *names: str) -> list[tuple[float, ...]]:
    """Return the numbers of the given columns for the rows that have all of them."""
    picked = ([row.get(name) for name in names] for row in rows)
    return [
        tuple(float(cell) for cell in cells if cell is not None)
        for cells in picked
        if None not in cells
    ]


def mean(rows: Iterable[TableRow], name: str) -> float:
    """Return the mean of a column, which must not be empty."""
    return fmean(value for (value,) in numbers(rows, name))


def mean_ratio(rows: Iterable[TableRow], slow: str, fast: str) -> float:
    """Return the mean of the row ratios of two columns (not the ratio of their means)."""
    return fmean(a / b for a, b in numbers(rows, slow, fast))


def mean_in_words(mean: float, printed: float, form: str, *, is_whole: bool) -> str:
    """Return the mean of a paper's rows as text; if `is_whole`, also the mean that it printed.

    The two may differ: papers truncate means and have misprints.
    """
    return f"{mean:{form}} (printed: {printed:{form}})" if is_whole else f"{mean:{form}}"


def facts_of(prefix: str, values: Mapping[Any, Cell], sentence: str = "") -> list[Fact]:
    """Return a fact for each value, named after its key; the sentence of the first has all."""
    facts = [Fact(f"{prefix}_{key}", value) for key, value in values.items()]
    return [replace(each, sentence=sentence) for each in facts[:1]] + facts[1:]


def printed_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of a file of printed figures; its comments name the source."""
    text = (_PRINTED / f"{name}.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(row for row in text.splitlines() if not row.startswith("#")))


def figures_of(row: Mapping[str, str], kind: type[Figures]) -> Figures:
    """Return a row of a file as a record of this type; columns of other names do not count."""
    types = get_type_hints(kind)
    return kind(**{name: types[name](text) for name, text in row.items() if name in types})


@cache
def figures(name: str, kind: type[Figures]) -> Mapping[str, Figures]:
    """Return the rows of a file of printed figures by instance."""
    return {row["instance"]: figures_of(row, kind) for row in printed_rows(name)}


def significance(
    name: str,
    words: str,
    pairs: Sequence[tuple[float, ...]],
    scaled: Sequence[tuple[float, ...]] | None = None,
) -> list[Fact]:
    """Return the facts of Wilcoxon's and of Mann and Whitney's test of ours against theirs.

    The second test ignores which values are a pair, so it takes `scaled` values if instances have
    costs of different sizes. Smaller is better. Without pairs, there are no facts.
    """
    if not pairs:
        return []
    paired, free = signed_rank(pairs), mann_whitney(*zip(*(scaled or pairs), strict=True))
    return [
        Fact(f"wilcoxon_p_{name}", paired.p, f"{words}: {paired.words()}; {free.words()}"),
        Fact(f"wilcoxon_better_{name}", paired.better, ""),
        Fact(f"mann_whitney_p_{name}", free.p, ""),
        Fact(f"effect_a_{name}", free.a, ""),
    ]
