"""Assignments in QAPLIB's `.sln` files: n and the cost, then the location of each facility.

Published files count from 1 or from 0, some contain the inverse, the facility of each location, and
some begin with the cost, without n.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.instances.lines import Lines, quoted, whole
from islands.instances.solution_files import ENTRY_MAX, Remark, SolutionWords, in_rows, write_lines

WORDS = SolutionWords("assignment", "location", "locations", "taken")

_COST_MAX = 2**63 - 1


@dataclass(frozen=True)
class SlnFile:
    """The content of a file: cost and order, counted from 0; the file counts from `base`."""

    cost: int
    base: int
    order: NDArray[np.int64]


def read_sln(path: Path, n: int) -> SlnFile:
    """Return the content of a file for an instance of size n, without checking the order."""
    with Lines.open(path) as lines:
        lines.allow(2 * n + 2)
        numbers = _numbers(lines)
        if (size := next(numbers, None)) is None:
            raise lines.error("the file is empty. Get it again")
        mismatch = lines.error(
            f"n is {size}, but the instance has {n}. Name a solution of this instance; a file that"
            f" begins with the cost has {n} more numbers"
        )
        if (cost := next(numbers, None)) is None:
            if size != n:
                raise mismatch
            raise lines.error("the file ends without the cost that follows n. Get it again")
        order = array("q", numbers)
        if _is_order([cost, *order], n):  # the file begins with the cost
            cost, order = size, array("q", [cost, *order])
        elif size != n:
            raise mismatch
        if not order:
            raise lines.error("the file ends without an assignment. Get it again")
        base = min(1, *order)
    return SlnFile(cost, base, np.frombuffer(order, np.int64) - base)


def _is_order(numbers: Sequence[int], n: int) -> bool:
    """Return whether these are n consecutive numbers from 0 or 1 on, in any order."""
    return len(numbers) == n and sorted(numbers) in ([*range(n)], [*range(1, n + 1)])


def is_inverse(file: SlnFile, cost: int, of_inverse: int) -> bool:
    """Return whether only the inverse of a file's order has the stated cost."""
    return of_inverse == file.cost != cost


def base_remark(file: SlnFile) -> Remark:
    """Return a remark on the index base of a file."""
    return Remark("index_base", file.base, f"the file counts from {file.base}")


def cost_remarks(file: SlnFile, cost: int, of_inverse: int) -> list[Remark]:
    """Return remarks from the costs of a file's order and of its inverse."""
    if is_inverse(file, cost, of_inverse):
        convention, words = "inverse", "inverted, as only its inverse has the header's cost"
    elif cost == of_inverse == file.cost:
        convention, words = "either", "used as written; its inverse has the same cost"
    else:
        convention, words = "as written", "used as written"
    agrees = file.cost in (cost, of_inverse)
    wrong = (
        f"wrong: the permutation costs {cost}, its inverse {of_inverse}; or the file belongs to"
        " another instance"
    )
    return [
        Remark("convention", convention, f"the file's permutation is {words}"),
        Remark("header", file.cost, f"the file's header states {file.cost}"),
        Remark("header_agrees", agrees, f"the header is {'right' if agrees else wrong}"),
    ]


def write_sln(path: Path, order: NDArray[np.int64], cost: int) -> None:
    """Write an assignment, counted from 0, in QAPLIB's format, which counts from 1."""
    write_lines(path, [f"{len(order)} {cost}", *in_rows((order + 1).tolist())])


def _numbers(lines: Lines) -> Iterator[int]:
    """Yield the numbers of a file, possibly separated by commas; only the cost may be large.

    It is the first or the second one.
    """
    count = 0
    while (words := lines.words()) is not None:
        for word in b" ".join(words).replace(b",", b" ").split():
            largest = _COST_MAX if count < 2 else ENTRY_MAX
            if (number := whole(word, largest)) is None:
                raise lines.error(
                    f"{quoted(word)} is not a whole number from 0 to {largest}. Correct it"
                )
            yield number
            count += 1
