"""Reads instances of the quadratic assignment problem in the format of QAPLIB, and writes them.

The format: n, then the n x n numbers of A, then those of B, with line breaks anywhere.
Other sets add what is known of the best assignment: its cost after n on the first line, or below B
on a line of its own; or the optimum and that cost, both on the first line.
R. E. Burkard, S. E. Karisch, F. Rendl: QAPLIB, a quadratic assignment problem library. Journal of
Global Optimization 10, 1997.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.lines import Lines, shown
from islands.instances.qap_stated import NOTHING, Stated, read_value

LARGEST = 10_000
"""A larger n is refused: the two matrices alone would take more than 1.6 GB."""

_NUMBER_MAX = 2**31 - 1
_DIGITS = len(str(_NUMBER_MAX))


@dataclass(frozen=True)
class QapFile:
    """What a QAPLIB file says: assignments p cost the sum of all a[i, j] * b[p[i], p[j]]."""

    name: str
    path: Path | None
    size: int
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    stated: Stated = NOTHING


def counts(n: int) -> tuple[int, int, int]:
    """Return how many numbers a file has: with no value, with the best known one, with two."""
    plain = 1 + 2 * n * n
    return plain, plain + 1, plain + 2


def read_qap(path: Path) -> QapFile:
    """Return the instance in a file, plain or gzipped."""
    with Lines.open(path) as lines:
        words = _next(lines)
        if words is None:
            raise lines.error("the file is empty. Get it again")
        n = _size(lines, words[0])
        a, b, stated = _content(lines, words[1:], n)
    return QapFile(Path(path.name.removesuffix(".gz")).stem, path, n, a, b, stated)


def qaplib_text(file: QapFile) -> str:
    """Return an instance in the format of QAPLIB."""
    width = len(str(max(file.a.max(), file.b.max())))
    parts = [
        "\n".join(" ".join(f"{number:{width}}" for number in row) for row in matrix.tolist())
        for matrix in (file.a, file.b)
    ]
    return "\n\n".join([str(file.size), *parts]) + "\n"


def _next(lines: Lines) -> list[bytes] | None:
    """Return the words of the next line that has any; None at the end of the file."""
    words = lines.words()
    while words == []:
        words = lines.words()
    return words


def _size(lines: Lines, word: bytes) -> int:
    n = int(word) if word.isdigit() and len(word) <= _DIGITS else 0
    if not 1 <= n <= LARGEST:
        raise lines.error(
            f"n is {shown(word)}: must be a whole number from 1 to {LARGEST}, since the matrices "
            "have to fit in memory. Name a file in the format of QAPLIB, or correct it"
        )
    count = 2 * n * n
    if 2 * count > lines.longest:
        raise lines.error(
            f"n is {n}, which needs {count} numbers, and the file has at most {lines.longest} "
            "bytes. Get the file again if it is truncated, or correct n"
        )
    return n


def _content(
    lines: Lines, words: list[bytes], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Stated]:
    """Return both matrices and what is stated, in a file whose first line goes on with `words`."""
    count, most = 2 * n * n, len(counts(n)) - 1
    lines.allow(count + most)
    has_values = lines.line_ended and 1 <= len(words) <= most and len(words) != count
    values = [read_value(lines, word) for word in words] if has_values else []
    row: list[bytes] | None = [] if has_values else words
    numbers, in_first_row = array("q"), 0
    while row is not None:
        in_first_row = in_first_row or len(row)
        # Where each line has one number, it could as well be the cost that follows n.
        is_alone = len(row) == 1 and lines.line_ended and in_first_row > 1
        if len(numbers) == count and is_alone and not values:
            values = [read_value(lines, row[0])]
        else:
            numbers.extend(_checked(lines, row))
        if len(numbers) > count:
            raise lines.error(
                f"more than the {count} numbers of two matrices of size {n}. A cost that is known "
                "belongs after n on the first line, or below the matrices on a line of its own. "
                "Remove the others, or correct n at the beginning"
            )
        row = lines.words()
    if len(numbers) < count:
        besides = " besides the costs on the first line" if values else ""
        raise lines.error(
            f"the numbers end after {len(numbers)} of the {count} of two matrices of size {n}"
            f"{besides}. Complete them, or correct n at the beginning"
        )
    a, b = np.frombuffer(numbers, np.int64).reshape(2, n, n)
    return a, b, Stated.of(*values)


def _checked(lines: Lines, words: list[bytes]) -> list[int]:
    if all(map(bytes.isdigit, words)) and max(map(len, words), default=0) <= _DIGITS:
        numbers = list(map(int, words))
        if max(numbers, default=0) <= _NUMBER_MAX:
            return numbers
    raise _number_error(lines, next(word for word in words if not _is_number(word)))


def _is_number(word: bytes) -> bool:
    return word.isdigit() and len(word) <= _DIGITS and int(word) <= _NUMBER_MAX


def _number_error(lines: Lines, word: bytes) -> InputError:
    return lines.error(
        f"{shown(word)} is not a whole number from 0 to {_NUMBER_MAX}. Correct it; to scale a "
        "matrix, or to add a number to all of it, leaves the best assignment as it is"
    )
