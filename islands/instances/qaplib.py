"""Read and write instances of the quadratic assignment problem in the format of QAPLIB.

The format: n, then the n x n numbers of A, then those of B, with line breaks anywhere.
Other sets add the best known cost after n or after B, or the optimum and this cost after n. If the
file has more numbers than the matrices, the lines decide which of them are costs; a file that can
be read in two ways is refused.
R. E. Burkard, S. E. Karisch, F. Rendl: QAPLIB, a quadratic assignment problem library. Journal of
Global Optimization 10, 1997.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from math import isqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.lines import Lines, shown
from islands.instances.qap_layout import COSTS, QapLayout
from islands.instances.qap_reading import Reading, fitting
from islands.instances.qap_stated import NOTHING, StatedCosts, is_value, read_value
from islands.paths import without_gz
from islands.text import counted

LARGEST = 10_000
"""Maximum n; its two matrices take 1.6 GB."""

_NUMBER_MAX = 2**31 - 1
_DIGITS = len(str(_NUMBER_MAX))
_COSTS = {1: "the first or the last is a cost", 2: "the first two are costs"}


@dataclass(frozen=True)
class QapFile:
    """The content of a file: assignment p costs the sum of all a[i, j] * b[p[i], p[j]].

    `linear[i, p[i]]` of each i is added; files have no such numbers, but scripts may.
    """

    name: str
    path: Path | None
    size: int
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    stated: StatedCosts = NOTHING
    linear: NDArray[np.int64] | None = None


def counts(n: int) -> tuple[int, int, int]:
    """Return the counts of numbers of a file without costs, with one cost, and with two."""
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
    return QapFile(Path(without_gz(path.name)).stem, path, n, a, b, stated)


def qaplib_text(file: QapFile) -> str:
    """Return an instance in the format of QAPLIB, such as the file of `demo/qap`."""
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
            "must fit in memory. Name a file in the format of QAPLIB, or correct it"
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
) -> tuple[NDArray[np.int64], NDArray[np.int64], StatedCosts]:
    """Return both matrices and the stated costs; `words` are the rest of the first line."""
    count = 2 * n * n
    numbers, ends, costs = _read(lines, words, count)
    layout = QapLayout(n, len(numbers), np.asarray(ends))
    before = layout.costs_before_too_few()
    if before or len(numbers) < count:
        raise _too_few(lines, n, len(numbers) - before, before)
    beyond = len(numbers) - count
    # A number that can only be a cost is in no matrix.
    possible = [
        start for start in range(beyond + 1) if not any(start <= at < start + count for at in costs)
    ]
    if not possible:
        raise costs[min(costs)]
    by_lines = layout.start(possible)
    unlikely = [at for at in possible if at not in by_lines and not layout.has_rows(by_lines[0])]
    found, *others = fitting(
        [Reading.of(numbers, n, at) for at in by_lines],
        [Reading.of(numbers, n, at) for at in unlikely],
    )
    if others:
        told = "; or ".join(each.words() for each in (found, *others))
        raise lines.error(
            f"{counted(len(numbers), 'number')} after n, {beyond} more than the {count} of two"
            f" matrices of size {n}, and the lines do not show whether {_COSTS[beyond]}: it may be"
            f" {told}. Put only n and all costs on the first line, and each row of a matrix on a"
            " line of its own; or remove the costs"
        )
    if not found.is_valid:
        if not found.before:
            raise _too_many(lines, n)
        raise lines.error(
            f"two costs, {found.before[0]} before the matrices and {found.after[0]} after them."
            " Remove one"
        )
    return found.a, found.b, found.stated


def _read(
    lines: Lines, words: list[bytes] | None, count: int
) -> tuple[array[int], array[int], dict[int, InputError]]:
    """Return the numbers after n, the line ends (except the last), and errors by position.

    The errors are for words that are valid only as costs.
    """
    lines.allow(count + COSTS)
    numbers, ends, costs = array("q"), array("q"), dict[int, InputError]()
    line = lines.number
    while words is not None:
        if words and lines.number != line:
            ends.append(len(numbers))
            line = lines.number
        if _are_numbers(words):
            numbers.extend(map(int, words))
        else:
            for at, word in enumerate(words, len(numbers)):
                if not _are_numbers([word]):
                    costs[at] = _number_error(lines, word)
                    may_be_cost = at >= count or (at < COSTS and (not ends or is_value(word)))
                    if not may_be_cost:
                        raise costs[at]
                numbers.append(read_value(lines, word))
        if len(numbers) > count + COSTS:
            raise _too_many(lines, isqrt(count // 2))
        words = lines.words()
    return numbers, ends, costs


def _are_numbers(words: list[bytes]) -> bool:
    """Return whether all words can be matrix entries."""
    is_short = all(map(bytes.isdigit, words)) and max(map(len, words), default=0) <= _DIGITS
    return is_short and max(map(int, words), default=0) <= _NUMBER_MAX


def _too_few(lines: Lines, n: int, found: int, before: int) -> InputError:
    count = 2 * n * n
    besides = f" besides {counted(before, 'cost')} after n" if before else ""
    other = ""
    if found + before >= count:
        other = (
            f". If {'this number belongs' if before == 1 else 'these belong'} to A, put n alone on"
        )
        other += " its line, then A"
    return lines.error(
        f"the numbers end after {found} of the {count} of two matrices of size {n}{besides}."
        f" Complete them, or correct n at the beginning{other}"
    )


def _too_many(lines: Lines, n: int) -> InputError:
    return lines.error(
        f"more than the {2 * n * n} numbers of two matrices of size {n} and their best known cost,"
        " which is one number after B, or one or two after n. Remove the others, or correct n at"
        " the beginning"
    )


def _number_error(lines: Lines, word: bytes) -> InputError:
    return lines.error(
        f"{shown(word)} is not a whole number from 0 to {_NUMBER_MAX}. Correct it; scaling a "
        "matrix, or adding a number to all its entries, does not change the best assignment"
    )
