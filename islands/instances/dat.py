"""Tells the formats that share the suffix `.dat` by how many numbers follow the first two.

QAPLIB's has 1 + 2 n n numbers, and up to two more where values are given; those of knapsacks have
3 + n + m + n m. The latter are told apart by the optimum, which has to make sense, and by the parts
of the file, which mostly begin on lines of their own. Both kinds have 11 numbers where n = m = 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.drake import read_drake
from islands.instances.lines import Lines, shown
from islands.instances.numbers import Numbers, is_number
from islands.instances.qaplib import counts, read_qap
from islands.instances.sac94 import read_sac94
from islands.text import option

_KNAPSACKS = {"drake": read_drake, "sac94": read_sac94}
_PARTS = {
    "qaplib": "n optimum best, A, B",
    "drake": "n m optimum, profits, weights, capacities",
    "sac94": "m n, profits, capacities, weights, optimum",
}
_DIGITS = 9


def _ask() -> str:
    return f"say which with {option('format', ['qaplib', 'sac94', 'drake'])}"


def of_numbers(path: Path) -> str:
    """Return the format of a file: qaplib, drake or sac94."""
    with Lines.open(path) as lines:
        seen = _Seen.of(lines)
        plain, *valued = counts(seen.first)
        # No knapsack has so many.
        if seen.words == plain:
            return "qaplib"
        is_knapsack = seen.of_knapsack in (seen.words, seen.numbers)
        if is_knapsack and seen.sizes_fit_a_knapsack:
            if seen.words in valued and _is_qap_of_two(path):
                raise _undecided(path, "sac94", "drake", "qaplib")
            return _of_layout(path, seen.first, seen.second)
        if seen.words in valued:
            return "qaplib"
        if is_knapsack:
            raise lines.error(
                f"it begins with {seen.first} {seen.second}, but a knapsack has at least one item "
                "and one constraint. Correct it"
            )
        raise lines.error(f"{_misfit(seen)}; or {_ask()}")


@dataclass(frozen=True)
class _Seen:
    """What is in a file; `numbers` are the words before the first that is no number."""

    first: int
    second: int
    """-1 where it is not the size of a knapsack, but may be a cost."""
    in_first_line: int
    words: int
    numbers: int

    @property
    def sizes_fit_a_knapsack(self) -> bool:
        return min(self.first, self.second) > 0

    @property
    def of_knapsack(self) -> int:
        """How many numbers a knapsack of these sizes has; 0 where they are none."""
        return _of_knapsack(self.first, self.second) if self.second >= 0 else 0

    @classmethod
    def of(cls, lines: Lines) -> Self:
        text = Numbers(lines)
        head: list[int] = []
        count = numbers = in_first_line = 0
        while (words := text.line()) is not None:
            in_first_line = in_first_line or len(words)
            for word in words[: 2 - len(head)]:
                head.append(_second(lines, word) if head else _size(lines, word))
                # No format has more numbers.
                most = max(*counts(head[0]), _of_knapsack(head[0], head[-1]))
                lines.allow(min(lines.longest, most))
            if numbers == count:
                numbers += _leading(words)
            count += len(words)
        if not head:
            raise lines.error("the file is empty. Get it again")
        return cls(head[0], head[1] if len(head) > 1 else 0, in_first_line, count, numbers)


def _of_knapsack(n: int, m: int) -> int:
    return 3 + n + m + n * m


def _misfit(seen: _Seen) -> str:
    """Return why a file is of no format, in the words of the one that it is nearest to."""
    first, second, words = seen.first, seen.second, seen.words
    plain, valued, both = counts(first)
    # No knapsack has less than two numbers on its first line.
    is_nearer = abs(words - seen.of_knapsack) < abs(words - plain)
    if seen.sizes_fit_a_knapsack and seen.in_first_line > 1 and is_nearer:
        return (
            f"{words} numbers: a knapsack that begins with {first} {second} has"
            f" {seen.of_knapsack}, which are two sizes, the optimum, {first} + {second} profits and"
            f" capacities, and {first * second} weights. Get the file again if it is truncated, or"
            " correct its beginning"
        )
    hint = "Get the file again if it is truncated"
    if words > both:
        hint = f"Remove the last {words - plain}, such as a solution"
    return (
        f"{words} numbers: a file of QAPLIB that begins with {first} has {plain}, which are n and"
        f" two matrices of n x n; {valued} with the best cost known; and {both} with the optimum"
        f" too. {hint}, or correct n"
    )


def _size(lines: Lines, word: bytes) -> int:
    if not word.isdigit() or len(word) > _DIGITS:
        raise lines.error(
            f"{shown(word)} is not a size of less than {_DIGITS + 1} digits, with which files of "
            f"QAPLIB and of knapsacks begin. Name a file in such a format, or {_ask()}"
        )
    return int(word)


def _second(lines: Lines, word: bytes) -> int:
    """Return the second number, or -1 for one that files of QAPLIB alone may have there."""
    is_size = word.isdigit() and len(word) <= _DIGITS
    is_cost = not is_size and is_number(word.removeprefix(b"-"))
    return -1 if is_cost else _size(lines, word)


def _leading(words: list[bytes]) -> int:
    """Return how many words there are before the first that is not a number."""
    if all(map(bytes.isdigit, words)):
        return len(words)
    return next((at for at, word in enumerate(words) if not is_number(word)), len(words))


def _of_layout(path: Path, first: int, second: int) -> str:
    """Return which format of knapsacks a file has, by its optimum and its lines."""
    sensible = [form for form in _KNAPSACKS if _makes_sense(path, form)]
    broken = [form for form, ends in _ends(first, second).items() if _end_lines(path, ends)]
    for one, other in ((sensible, broken), (broken, sensible)):
        if len(one) == 1 and (len(other) != 1 or one == other):
            return one[0]
    raise _undecided(path, "sac94", "drake")


def _undecided(path: Path, *forms: str) -> InputError:
    listed = " and ".join(f"{form} ({_PARTS[form]})" for form in forms)
    count = {2: "two", 3: "three"}[len(forms)]
    return InputError(f"{path}: the numbers fit {count} formats, {listed}; {_ask()}")


def _is_qap_of_two(path: Path) -> bool:
    """Return whether a file can be read as two facilities, and gives their best cost."""
    try:
        file = read_qap(path)
    except InputError:
        return False
    # There are two assignments: as numbered, and swapped.
    costs = [int((file.a * b).sum()) for b in (file.b, file.b[::-1, ::-1])]
    return file.size == len(costs) and file.stated.value == min(costs)


def _ends(first: int, second: int) -> dict[str, list[int]]:
    """Return, for each format, how many numbers there are up to the end of each of its parts."""
    matrix = first * second
    parts = {"drake": [3, first, matrix, second], "sac94": [2, second, first, matrix, 1]}
    return {form: list(accumulate(counts)) for form, counts in parts.items()}


def _end_lines(path: Path, ends: list[int]) -> bool:
    """Return whether a line ends after each of these numbers of words."""
    with Lines.open(path) as lines:
        lines.allow(ends[-1])
        text, count, left = Numbers(lines), 0, iter(ends)
        end = next(left)
        while (words := text.line()) is not None:
            count += len(words)
            if count > end:
                return False
            if count == end and (end := next(left, 0)) == 0:
                return True
    return False


def _makes_sense(path: Path, form: str) -> bool:
    """Return whether a file can be read so, and gives an optimum that is possible."""
    try:
        with Lines.open(path) as lines:
            file = _KNAPSACKS[form](Numbers(lines), "")
    except InputError:
        return False
    if file.optimum is None:
        return True
    fits = (file.weights <= file.capacities[:, np.newaxis]).all(axis=0)
    profits, weights = file.profits[fits], file.weights[:, fits]
    # The best item alone is a solution, and each constraint alone allows no less than all do.
    bounds = (
        _bound(profits, *each) for each in zip(weights, file.capacities.tolist(), strict=True)
    )
    return int(profits.max(initial=0)) <= file.optimum <= min(bounds)


def _bound(profits: NDArray[np.int64], weights: NDArray[np.int64], capacity: int) -> float:
    """Return the profit of the best items for their weight, the last of them in part."""
    order = np.argsort(weights / np.maximum(profits, 0.5))
    loads = np.cumsum(weights[order])
    whole = int(np.count_nonzero(loads <= capacity))
    profit = float(profits[order[:whole]].sum())
    if whole < len(order):
        left = capacity - (int(loads[whole - 1]) if whole else 0)
        profit += float(profits[order[whole]]) * left / float(weights[order[whole]])
    return profit * (1 + 1e-9)
