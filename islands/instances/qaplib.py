"""Reads instances of the quadratic assignment problem in the format of QAPLIB, and writes them.

The format: n, then the n x n numbers of A, then those of B, with line breaks anywhere.
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


def read_qap(path: Path) -> QapFile:
    """Return the instance in a file, plain or gzipped."""
    with Lines.open(path) as lines:
        words = _next(lines)
        if words is None:
            raise lines.error("the file is empty. Get it again")
        n = _size(lines, words[0])
        numbers = _numbers(lines, words[1:], n)
    a, b = numbers.reshape(2, n, n)
    return QapFile(Path(path.name.removesuffix(".gz")).stem, path, n, a, b)


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


def _numbers(lines: Lines, words: list[bytes] | None, n: int) -> NDArray[np.int64]:
    """Return the numbers of both matrices, the first of which are `words`."""
    count = 2 * n * n
    lines.allow(count)
    numbers = array("q")
    while words is not None:
        numbers.extend(_checked(lines, words))
        if len(numbers) > count:
            raise lines.error(
                f"more than the {count} numbers of two matrices of size {n}. "
                "Remove the others, or correct n at the beginning"
            )
        words = lines.words()
    if len(numbers) < count:
        raise lines.error(
            f"the numbers end after {len(numbers)} of the {count} of two matrices of size {n}. "
            "Complete them, or correct n at the beginning"
        )
    return np.frombuffer(numbers, np.int64)


def _checked(lines: Lines, words: list[bytes]) -> list[int]:
    if all(map(bytes.isdigit, words)) and max(map(len, words), default=0) <= _DIGITS:
        numbers = list(map(int, words))
        if max(numbers, default=0) <= _NUMBER_MAX:
            return numbers
    raise _number_error(lines, words)


def _number_error(lines: Lines, words: list[bytes]) -> InputError:
    wrong = next(
        word
        for word in words
        if not word.isdigit() or len(word) > _DIGITS or int(word) > _NUMBER_MAX
    )
    return lines.error(
        f"{shown(wrong)} is not a whole number from 0 to {_NUMBER_MAX}. Correct it; to scale a "
        "matrix, or to add a number to all of it, leaves the best assignment as it is"
    )
