"""Statistics of the rows of a table, and statistical tests."""

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import fmean
from typing import Any

from islands.studies.papers.cells import Cell, Fact, Scaled, TableRow
from islands.studies.significance import mann_whitney, signed_rank


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
    """Return the mean over rows of the ratio of two columns (not the ratio of their means)."""
    return fmean(a / b for a, b in numbers(rows, slow, fast))


def named(prefix: str, values: Mapping[Any, Cell]) -> dict[str, Cell]:
    """Return values with a prefix added to their names."""
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


def significance(
    name: str,
    words: str,
    pairs: Sequence[tuple[float, ...]],
    scaled: Sequence[tuple[float, ...]] | None = None,
) -> list[Fact]:
    """Return the fact of the Wilcoxon and Mann-Whitney tests of our values against theirs.

    Smaller values are better. The second test ignores pairs, so it uses `scaled` values if the
    costs of instances differ in magnitude. Without pairs, there is no fact.
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
