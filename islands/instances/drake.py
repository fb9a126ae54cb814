"""Reads the files that J. Drake collected, one instance of the multidimensional knapsack in each.

The format: n, m and the optimum or 0; n profits; m rows of n weights; m capacities.
"""

from __future__ import annotations

from islands.instances.lines import shown
from islands.instances.mkp_file import MkpFile, made, read_row, read_sizes, read_values
from islands.instances.numbers import Numbers
from islands.text import counted


def read_drake(numbers: Numbers, name: str) -> MkpFile:
    """Return the only instance of a file."""
    file = read_problem(numbers, name)
    end(numbers, "the instance")
    return file


def read_problem(numbers: Numbers, name: str) -> MkpFile:
    """Return the instance that comes next."""
    n, m = read_sizes(numbers, items_first=True)
    best = read_row(numbers, 1, "optima")
    profits = read_row(numbers, n, "profits")
    weights = [read_row(numbers, n, f"weights of constraint {i + 1}") for i in range(m)]
    capacities = read_values(numbers, m, "capacities")
    return made(numbers, name, profits, weights, capacities, best)


def skip_problem(numbers: Numbers) -> None:
    """Pass over the instance that comes next."""
    n, m = read_sizes(numbers, items_first=True)
    numbers.skip(
        n * m + n + m + 1, f"numbers of {counted(n, 'item')} and {counted(m, 'constraint')}"
    )


def end(numbers: Numbers, what: str) -> None:
    """Raise where the file goes on."""
    after = numbers.next()
    if after:
        raise numbers.error(
            f"{shown(after[0])} comes after the last number of {what}. "
            "Remove what follows, or correct the sizes"
        )


def drake_text(file: MkpFile) -> str:
    """Return an instance without decimals in this format."""
    m, n = file.weights.shape
    head = f"{n} {m} {file.optimum or 0}"
    rows = [file.profits, *file.weights, file.capacities]
    lines = [
        " ".join(map(str, row[at : at + 20].tolist()))
        for row in rows
        for at in range(0, len(row), 20)
    ]
    return "\n".join([head, *lines, ""])
