"""Assignments in QAPLIB's `.sln` files: n and the cost, then the location of each facility.

Published files have indices from 1 or from 0. Some contain the inverse, that is, the facility of
each location, and some begin with the cost, without n.
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
    """The cost and the order in a file, with indices from 0; those in the file begin at `base`."""

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
            f"n is {size}, but the instance has {n}. Specify a solution of this instance. If the"
            f" file begins with the cost, {n} numbers must follow"
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
    """Return whether the numbers are a permutation of 0 to n - 1, or of 1 to n."""
    return len(numbers) == n and sorted(numbers) in ([*range(n)], [*range(1, n + 1)])


def is_inverse(file: SlnFile, cost: int, inverse_cost: int) -> bool:
    """Return whether only the inverse of a file's order has the stated cost."""
    return inverse_cost == file.cost != cost


def base_remark(file: SlnFile) -> Remark:
    """Return a remark on the index base of a file."""
    return Remark("index_base", file.base, f"the indices in the file begin at {file.base}")


def cost_remarks(file: SlnFile, cost: int, inverse_cost: int) -> list[Remark]:
    """Return the remarks on a file, given the costs of its order and of the inverse."""
    if is_inverse(file, cost, inverse_cost):
        convention, words = "inverse", "inverted, as only its inverse has the header's cost"
    elif cost == inverse_cost == file.cost:
        convention, words = "either", "used as written; its inverse has the same cost"
    else:
        convention, words = "as written", "used as written"
    agrees = file.cost in (cost, inverse_cost)
    wrong = (
        f"wrong: the permutation costs {cost}, its inverse {inverse_cost}; or the file belongs to"
        " another instance"
    )
    return [
        Remark("convention", convention, f"the file's permutation is {words}"),
        Remark("header", file.cost, f"the file's header states {file.cost}"),
        Remark("header_agrees", agrees, f"the header is {'right' if agrees else wrong}"),
    ]


def write_sln(path: Path, order: NDArray[np.int64], cost: int) -> None:
    """Write an assignment, whose indices begin at 0, to a file, where they begin at 1."""
    write_lines(path, [f"{len(order)} {cost}", *in_rows((order + 1).tolist())])


def _numbers(lines: Lines) -> Iterator[int]:
    """Yield the numbers of a file, possibly separated by commas.

    Only the first two may be large, as one of them is the cost.
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
