"""Read instances of the quadratic assignment problem in the format of QAPLIB.

The format: n, then the n x n numbers of A, then those of B, with line breaks anywhere.
Other sets add the best known cost after n or after B, or the optimum and this cost after n. If a
file has more numbers than the matrices, its lines show which ones are costs. As a wrong reading
would shift both matrices, a file is rejected if another reading fits its lines as well, or if only
another reading has a cost that an assignment can have.
R. E. Burkard, S. E. Karisch, F. Rendl: QAPLIB, a quadratic assignment problem library. Journal of
Global Optimization 10, 1997.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances import messages
from islands.instances.lines import Lines, Numbers, quoted, whole
from islands.paths import without_gz

_WHOLE = re.compile(rb"-?\d{1,19}")
_VALUE_MAX = 2**63 - 1


@dataclass(frozen=True)
class StatedCosts:
    """The costs that a file states; None for a cost that is missing or stated as unknown."""

    best: int | None = None
    """The cost of the best assignment known."""
    optimum: int | None = None
    bound: int | None = None
    """A lower bound on the cost."""

    @classmethod
    def of(cls, *values: int) -> Self:
        """Interpret the stated values: none, the best known cost, or the optimum and that cost.

        An unknown value is written as 0, -1, or a lower bound with a minus sign.
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
        """Return the values as text, such as `best known 578, lower bound 493`."""
        if self.value == 0:
            return "best known 0, which may mean unknown"
        best = None if self.best == self.optimum else self.best
        values = {"optimum": self.optimum, "best known": best, "lower bound": self.bound}
        return ", ".join(f"{key} {value}" for key, value in values.items() if value is not None)


NOTHING = StatedCosts()


def is_value(word: bytes) -> bool:
    """Return whether a word can be a stated cost, which may be negative."""
    return _WHOLE.fullmatch(word) is not None and abs(int(word)) <= _VALUE_MAX


def read_value(lines: Lines, word: bytes) -> int:
    """Return a word of the current line as a stated cost."""
    if not is_value(word):
        raise lines.error(
            f"{quoted(word)} is not a whole number from {-_VALUE_MAX} to {_VALUE_MAX}, as the cost"
            " of an assignment must be. Correct it, or remove it if it is not a cost"
        )
    return int(word)


COSTS = 2
"""Maximum number of costs in a file."""


@dataclass(frozen=True)
class QapLayout:
    """How the numbers after n are distributed over lines."""

    n: int
    count: int
    """The count of numbers after n."""
    ends: NDArray[np.int64]
    """The count of numbers before the end of each line but the last one."""

    def start(self, possible: list[int]) -> list[int]:
        """Return how many costs may precede the matrices, the most likely number first.

        Return only one number if the lines decide: others fit worse, and the lines are not merely
        wrapped. If they are, a matrix entry on the line of n looks like a cost.
        """
        fits = {at: self._fit(at) for at in possible}
        best = max(possible, key=fits.__getitem__)
        is_clear = self.n > 1 and not (best > 0 and self._is_wrapped(best))
        others = [
            at
            for at in possible
            if at != best and (not is_clear or not _dominates(fits[best], fits[at]))
        ]
        return [best, *others]

    def costs_before_too_few(self) -> int:
        """Return the number of costs that clearly precede incomplete matrices; usually 0."""
        beyond = self.count - 2 * self.n**2
        if any(all(self._fit(at)) for at in range(beyond + 1)):
            return 0
        starts = range(max(1, beyond + 1), COSTS + 1)
        return next((at for at in starts if all(self._fit(at)) and self._is_headed(at)), 0)

    def _fit(self, at: int) -> tuple[bool, bool, bool]:
        """Return which criteria are met by matrices that begin at `at`, most important first.

        They are: no line has both costs and matrix entries; the matrices begin on a new line; lines
        correspond to rows, that is, each row ends a line or each line ends a row.
        """
        end = at + 2 * self.n**2
        begin_line = bool((self.ends[: COSTS + 1] == at).any())
        end_line = end >= self.count or bool((self.ends[-COSTS:] == end).any())
        return (at == 0 or begin_line) and end_line, begin_line, self._in_rows(at)

    def _inside(self, at: int) -> NDArray[np.int64]:
        """Return the line ends inside matrices that begin at `at`, counted from there."""
        end = min(at + 2 * self.n**2, self.count)
        return self.ends[(self.ends > at) & (self.ends < end)] - at

    def _in_rows(self, at: int) -> bool:
        inside, end = self._inside(at), min(at + 2 * self.n**2, self.count)
        rows = int(np.count_nonzero(inside % self.n == 0))
        return rows > 0 and rows in (len(inside), (end - at - 1) // self.n)

    def has_rows(self, at: int) -> bool:
        """Return whether all criteria are met, and every line ends at the end of a row.

        False for one or two facilities, for which this may be a coincidence.
        """
        is_of_rows = not (self._inside(at) % self.n).any()
        return self.n > COSTS and is_of_rows and all(self._fit(at))

    def _is_wrapped(self, at: int) -> bool:
        """Return whether lines do not correspond to rows, or all are as long as the line of n."""
        inside = self._inside(at)
        if not (inside % self.n).any():
            return False
        words = np.diff(self.ends, prepend=-1)  # n is the first word
        return not self._in_rows(at) or bool((words == words[0]).all())

    def _is_headed(self, at: int) -> bool:
        """Return whether `at` numbers follow n on its line, and the next line is longer."""
        first, second = [*self.ends[:2].tolist(), self.count, self.count][:2]
        return bool(first == at and second - first > 1 + first)


def _dominates(one: tuple[bool, ...], other: tuple[bool, ...]) -> bool:
    """Return whether `one` meets all criteria that `other` meets, and more."""
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


_MOST_SORTED = 1000
"""Maximum n for which the range of possible costs is computed."""
_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Reading:
    """A possible reading of a file: costs before the matrices, the matrices, and costs after."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    a: NDArray[np.int64]
    b: NDArray[np.int64]

    @classmethod
    def of(cls, numbers: array[int], n: int, start: int) -> Reading:
        """Return the reading whose matrices begin at `start`."""
        end = start + 2 * n * n
        a, b = np.frombuffer(numbers, np.int64)[start:end].reshape(2, n, n)
        return cls(tuple(numbers[:start]), tuple(numbers[end:]), a, b)

    @property
    def is_valid(self) -> bool:
        """Whether costs are where they may be; costs in both places must be the same."""
        if self.before and self.after:
            return self.before == self.after
        return len(self.after) <= 1

    @property
    def stated(self) -> StatedCosts:
        """The stated costs of a valid reading."""
        return StatedCosts.of(*(self.before or self.after))

    def has_possible_cost(self) -> bool:
        """Return whether the reading states a cost, other than 0, that an assignment may have.

        By the rearrangement inequality, the sum of products is smallest if the entries of the two
        matrices are sorted in opposite order, and largest if sorted in the same order.
        """
        if not self.is_valid or len(self.a) > _MOST_SORTED or not (value := self.stated.value):
            return False
        one, other = (np.sort(m, axis=None).astype(np.float64) for m in (self.a, self.b))
        tolerance = 1e-9 * float(value)
        return bool(one @ other[::-1] - tolerance <= value <= one @ other + tolerance)

    def words(self) -> str:
        """Return the reading as text."""
        first = " ".join(map(str, self.a.reshape(-1)[:_SHOWN].tolist()))
        more = " ..." if self.a.size > _SHOWN else ""
        parts = [f"{_costs(self.before)} before A = {first}{more}"] if self.before else []
        if self.after:
            begin = "" if parts else f"A = {first}{more} and "
            parts.append(f"{begin}{_costs(self.after)} after B")
        return " and ".join(parts)


def fitting(by_lines: Sequence[Reading], others: Sequence[Reading]) -> list[Reading]:
    """Return the best reading, and others that fit as well.

    The lines allow the readings `by_lines`, the best first, and make the `others` unlikely. If the
    best has a possible cost, keep only those that have one too; if not, add `others` that have one.
    """
    best = next((reading for reading in by_lines if reading.is_valid), by_lines[0])
    alike = [reading for reading in by_lines if reading is not best]
    if best.has_possible_cost():
        return [best, *filter(Reading.has_possible_cost, alike)]
    return [best, *alike, *filter(Reading.has_possible_cost, others if best.is_valid else ())]


def _costs(costs: tuple[int, ...]) -> str:
    noun = "costs" if costs[1:] else "cost"
    return f"the {noun} {' and '.join(map(str, costs))}"


LARGEST = 10_000
"""Maximum n; its two matrices take 1.6 GB."""

_NUMBER_MAX = 2**31 - 1
_DIGITS = len(str(_NUMBER_MAX))


@dataclass(frozen=True)
class QapFile:
    """The content of a file: assignment p costs the sum of all a[i, j] * b[p[i], p[j]].

    `linear[i, p[i]]` is added for every i; only problems from scripts have such numbers.
    """

    name: str
    path: Path | None
    size: int
    a: NDArray[np.int64]
    b: NDArray[np.int64]
    stated: StatedCosts = NOTHING
    linear: NDArray[np.int64] | None = None


def counts(n: int) -> tuple[int, int, int]:
    """Return how many numbers a file has without costs, with one cost, and with two."""
    plain = 1 + 2 * n * n
    return plain, plain + 1, plain + 2


def read_qap(path: Path) -> QapFile:
    """Return the instance in a file, plain or gzipped."""
    with Lines.open(path) as lines:
        if (words := Numbers(lines).line()) is None:
            raise lines.error("the file is empty. Get it again")
        n = _size(lines, words[0])
        a, b, stated = _content(lines, words[1:], n)
    return QapFile(Path(without_gz(path.name)).stem, path, n, a, b, stated)


def _size(lines: Lines, word: bytes) -> int:
    if (n := whole(word, LARGEST, 1)) is None:
        raise lines.error(
            f"n is {quoted(word)}: must be a whole number from 1 to {LARGEST}, since the matrices "
            "must fit in memory. Specify a file in the format of QAPLIB, or correct it"
        )
    lines.expect(f"n is {n}, which needs", 2 * n * n)
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
        raise messages.too_few_numbers(lines, n=n, count=len(numbers) - before, costs=before)
    beyond = len(numbers) - count
    # A number that can only be a cost is in no matrix.
    possible = [
        start for start in range(beyond + 1) if not any(start <= at < start + count for at in costs)
    ]
    if not possible:
        raise costs[min(costs)]
    by_lines = layout.start(possible)
    unlikely = [at for at in possible if at not in by_lines and not layout.has_rows(by_lines[0])]
    best, *others = fitting(
        [Reading.of(numbers, n, at) for at in by_lines],
        [Reading.of(numbers, n, at) for at in unlikely],
    )
    if others:
        readings = [reading.words() for reading in (best, *others)]
        raise messages.ambiguous_costs(lines, n=n, count=len(numbers), readings=readings)
    if not best.is_valid:
        if not best.before:
            raise messages.too_many_numbers(lines, n=n)
        raise lines.error(
            f"two costs, {best.before[0]} before the matrices and {best.after[0]} after them."
            " Remove one"
        )
    return best.a, best.b, best.stated


def _read(
    lines: Lines, words: list[bytes] | None, count: int
) -> tuple[array[int], array[int], dict[int, InputError]]:
    """Return the numbers after n, the line ends (except the last), and errors by position.

    The errors are for words that are valid only as costs.
    """
    lines.allow(COSTS)
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
                    costs[at] = messages.invalid_entry(lines, word=word, largest=_NUMBER_MAX)
                    may_be_cost = at >= count or (at < COSTS and (not ends or is_value(word)))
                    if not may_be_cost:
                        raise costs[at]
                numbers.append(read_value(lines, word))
        if len(numbers) > count + COSTS:
            raise messages.too_many_numbers(lines, n=isqrt(count // 2))
        words = lines.words()
    return numbers, ends, costs


def _are_numbers(words: list[bytes]) -> bool:
    """Return whether all words can be matrix entries."""
    is_short = all(map(bytes.isdigit, words)) and max(map(len, words), default=0) <= _DIGITS
    return is_short and max(map(int, words), default=0) <= _NUMBER_MAX
