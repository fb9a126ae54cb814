"""Read instances of the quadratic assignment problem in the format of QAPLIB.

The format: n, then the n x n numbers of A, then those of B, with line breaks anywhere.
Other sets add the best known cost after n or after B, or the optimum and this cost after n. If a
file has more numbers than the matrices, costs must be on lines without entries, and each line of
the matrices must end with a row: a wrong reading would shift both matrices by one.
R. E. Burkard, S. E. Karisch, F. Rendl: QAPLIB, a quadratic assignment problem library. Journal of
Global Optimization 10, 1997.
"""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.lines import Lines, shown
from islands.paths import without_gz
from islands.text import counted

LARGEST = 10_000
"""Maximum n; its two matrices take 1.6 GB."""
_WHOLE = re.compile(rb"-?\d{1,19}")
_NUMBER_MAX, _VALUE_MAX = 2**31 - 1, 2**63 - 1
"""The largest entry of a matrix, and the largest cost."""
_DIGITS = len(str(_NUMBER_MAX))
_MOST_COSTS = 2


@dataclass(frozen=True)
class StatedCosts:
    """The stated values; None for a value that is missing or stated as unknown."""

    best: int | None = None
    """The cost of the best assignment known."""
    optimum: int | None = None
    bound: int | None = None
    """A lower bound of the cost."""

    @classmethod
    def of(cls, *values: int) -> Self:
        """Interpret no value, the best known one, or the optimum and the best known one.

        An unknown value is written as 0 or as a negative number, which may be the lower bound.
        """
        if not values:
            return cls()
        *optima, best = values
        if not optima:
            return cls(best if best >= 0 else None, bound=-best if best < -1 else None)
        (optimum,) = optima
        is_known = optimum > 0 or (optimum == 0 and best == 0)
        return cls(
            best if best > 0 or (best == 0 and optimum == 0) else None,
            optimum if is_known else None,
            -optimum if optimum < -1 else None,
        )

    @property
    def value(self) -> int | None:
        """The best stated cost."""
        return self.optimum if self.best is None else self.best

    def words(self) -> str:
        """Return the values as text, such as `best known 578, lower bound 493`, or empty."""
        if self.value == 0:
            return "best known 0, which may mean unknown"
        best = None if self.best == self.optimum else self.best
        values = {"optimum": self.optimum, "best known": best, "lower bound": self.bound}
        return ", ".join(f"{key} {value}" for key, value in values.items() if value is not None)


NOTHING = StatedCosts()


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
        words = lines.words()
        while words == []:
            words = lines.words()
        if words is None:
            raise lines.error("the file is empty. Get it again")
        n = _size(lines, words[0])
        a, b, stated = _content(lines, words[1:], n)
    return QapFile(Path(without_gz(path.name)).stem, path, n, a, b, stated)


def _size(lines: Lines, word: bytes) -> int:
    n = int(word) if word.isdigit() and len(word) <= _DIGITS else 0
    if not 1 <= n <= LARGEST:
        raise lines.error(
            f"n is {shown(word)}: must be a whole number from 1 to {LARGEST}, since the matrices "
            "must fit in memory. Name a file in the format of QAPLIB, or correct it"
        )
    lines.require(f"n is {n}, which needs", 4 * n * n, f"{2 * n * n} numbers")
    return n


def _content(
    lines: Lines, words: list[bytes], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], StatedCosts]:
    """Return both matrices and the stated costs; `words` are the rest of the first line."""
    count = 2 * n * n
    numbers, ends, costs = _read(lines, words, n)
    beyond = len(numbers) - count
    before = next((at for at in range(max(1, beyond + 1), 3) if _begins(n, at, ends)), 0)
    if before or beyond < 0:
        besides = f" besides {counted(before, 'cost')} after n" if before else ""
        raise lines.error(
            f"the numbers end after {len(numbers) - before} of the {count} of two matrices of size"
            f" {n}{besides}. Complete them, or correct n at the beginning"
        )
    # A number that can only be a cost is in no matrix, and at most one cost follows them.
    starts = range(max(0, beyond - 1), beyond + 1)
    possible = [at for at in starts if not any(at <= cost < at + count for cost in costs)]
    if not possible:
        raise costs[min(costs)]
    if possible[1:]:
        possible = [at for at in possible if _fits(n, at, len(numbers), ends)]
    if len(possible) != 1:
        raise lines.error(
            f"{counted(len(numbers), 'number')} after n, {beyond} more than the {count} of two"
            f" matrices of size {n}, and the lines do not show which are costs. Put only n and all"
            " costs on the first line, and each row of a matrix on a line of its own; or remove the"
            " costs"
        )
    [at] = possible
    first, last = tuple(numbers[:at]), tuple(numbers[at + count :])
    if first and last and first != last:
        raise lines.error(
            f"two costs, {first[0]} before the matrices and {last[0]} after them. Remove one"
        )
    a, b = np.frombuffer(numbers, np.int64)[at : at + count].reshape(2, n, n)
    return a, b, StatedCosts.of(*(first or last))


def _begins(n: int, at: int, ends: NDArray[np.int64]) -> bool:
    """Return whether matrices by rows begin at number `at`, in a new line, and not before."""
    after = ends[ends >= at] - at
    is_by_rows = len(after) > 0 and after[0] == 0 and not (after % n).any()
    return bool(is_by_rows and (ends % n).any())


def _fits(n: int, at: int, count: int, ends: NDArray[np.int64]) -> bool:
    """Return whether matrices that begin at number `at` are in lines of their own, by rows."""
    end = at + 2 * n * n
    inside = ends[(ends >= at) & (ends <= end)] - at
    is_apart = all(each in (0, count) or (ends == each).any() for each in (at, end))
    return is_apart and not (inside % n).any()


def _read(
    lines: Lines, words: list[bytes] | None, n: int
) -> tuple[array[int], NDArray[np.int64], dict[int, InputError]]:
    """Return the numbers after n, the line ends (except the last), and errors by position.

    The errors are for words that are valid only as costs.
    """
    most = 2 * n * n + _MOST_COSTS
    lines.allow(most)
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
                    costs[at] = lines.error(
                        f"{shown(word)} is not a whole number from 0 to {_NUMBER_MAX}. Correct it;"
                        " scaling a matrix, or adding a number to all its entries, does not change"
                        " the best assignment"
                    )
                    if _WHOLE.fullmatch(word) is None or abs(int(word)) > _VALUE_MAX:
                        raise costs[at]
                numbers.append(int(word))
        if len(numbers) > most:
            raise lines.error(
                f"more than the {2 * n * n} numbers of two matrices of size {n} and their best"
                " known cost, which is one number after B, or one or two after n. Remove the"
                " others, or correct n at the beginning"
            )
        words = lines.words()
    return numbers, np.asarray(ends), costs


def _are_numbers(words: list[bytes]) -> bool:
    """Return whether all words can be matrix entries."""
    is_short = all(map(bytes.isdigit, words)) and max(map(len, words), default=0) <= _DIGITS
    return is_short and max(map(int, words), default=0) <= _NUMBER_MAX
