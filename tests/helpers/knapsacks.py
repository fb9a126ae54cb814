"""One small knapsack in each format, for tests of readers."""

from __future__ import annotations

from pathlib import Path

from islands.instances.mkp import MkpFile

PROFITS = [100, 600, 1200, 2400]
WEIGHTS = [[8, 12, 13, 64], [0, 5, 7, 1]]
CAPACITIES = [80, 9]
OPTIMUM = 3600

DRAKE = "4 2 3600\n100 600 1200 2400\n8 12 13 64\n0 5 7 1\n80 9\n"
SAC94 = "2 4\n100 600 1200 2400\n80 9\n8 12 13 64\n0 5 7 1\n\n3600\n"

SECOND = "2 1 0\n5 4\n3 2\n3\n"
COUNTED = f"2\n{DRAKE}{SECOND}"
RULE = "+" * 29
TITLED = f"""\
   A collection of test problems, in the form

     number of knapsacks, number of objects
     problem instance!

   for example

     2 28  // 2 knapsacks, 28 objects
     1898 440  // profits
     600 600  // capacities
{RULE}

problem SMALL1.DAT
{RULE}
{SAC94}
{RULE}
problem SMALL2.DAT
{RULE}

1 2
5 4
3
3 2

5
"""


def write(folder: Path, name: str, text: str) -> Path:
    """Write a text unchanged to a file, and return its path."""
    path = folder / name
    path.write_text(text, newline="")
    return path


def content(file: MkpFile) -> tuple[list[int], list[list[int]], list[int], int | None]:
    """Return the numbers of an instance."""
    numbers = (file.profits.tolist(), file.weights.tolist(), file.capacities.tolist())
    return (*numbers, file.optimum)


SMALL = (PROFITS, WEIGHTS, CAPACITIES, OPTIMUM)
