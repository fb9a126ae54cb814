"""Read the layouts of files with one instance of the multidimensional knapsack problem.

Drake's layout: n, m and the optimum or 0; n profits; m rows of n weights; m capacities.
SAC-94's layout: m and n; n profits; m capacities; m rows of n weights; the optimum; then any words.
S. Khuri, T. Bäck, J. Heitkötter: The zero/one multiple knapsack problem and genetic algorithms.
Proceedings of the 1994 ACM Symposium on Applied Computing.
"""

from __future__ import annotations

from islands.instances.lines import shown
from islands.instances.mkp_file import MkpFile, made, read_row, read_sizes, read_values
from islands.instances.numbers import Numbers, is_number
from islands.text import counted


def read_drake(numbers: Numbers, name: str) -> MkpFile:
    """Return the only instance of a file in Drake's layout."""
    file = read_problem(numbers, name)
    end(numbers, "the instance")
    return file


def read_problem(numbers: Numbers, name: str) -> MkpFile:
    """Return the next instance in Drake's layout."""
    n, m = read_sizes(numbers, items_first=True)
    best = read_row(numbers, 1, "optima")
    profits = read_row(numbers, n, "profits")
    weights = [read_row(numbers, n, f"weights of constraint {i + 1}") for i in range(m)]
    capacities = read_values(numbers, m, "capacities")
    return made(numbers, name, profits, weights, capacities, best)


def skip_problem(numbers: Numbers) -> None:
    """Skip the next instance."""
    n, m = read_sizes(numbers, items_first=True)
    numbers.skip(
        n * m + n + m + 1, f"numbers of {counted(n, 'item')} and {counted(m, 'constraint')}"
    )


def end(numbers: Numbers, what: str) -> None:
    """Raise an error if the file continues."""
    after = numbers.next()
    if after:
        raise numbers.error(
            f"{shown(after[0])} follows the last number of {what}. "
            "Remove it and the rest, or correct the sizes"
        )


def read_sac94(numbers: Numbers, name: str) -> MkpFile:
    """Return the next instance in SAC-94's layout; no number may follow it."""
    n, m = read_sizes(numbers, items_first=False)
    profits = read_row(numbers, n, "profits")
    capacities = read_values(numbers, m, "capacities")
    weights = [read_row(numbers, n, f"weights of constraint {i + 1}") for i in range(m)]
    best = read_row(numbers, 1, "optima")
    file = made(numbers, name, profits, weights, capacities, best)
    after = numbers.next()
    if after and is_number(after[0]):
        raise numbers.error(
            f"{shown(after[0])} follows the optimum, the last number. "
            "Remove it and the rest, or correct the sizes"
        )
    return file


def drake_text(file: MkpFile) -> str:
    """Return an instance without decimals in Drake's layout, such as the file of `demo/mkp`."""
    m, n = file.weights.shape
    head = f"{n} {m} {file.optimum or 0}"
    rows = [file.profits, *file.weights, file.capacities]
    lines = [
        " ".join(map(str, row[at : at + 20].tolist()))
        for row in rows
        for at in range(0, len(row), 20)
    ]
    return "\n".join([head, *lines, ""])
