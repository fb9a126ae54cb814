"""Tells the formats that share the suffix `.dat` by how many numbers follow the first two.

QAPLIB's has 1 + 2 n n numbers; those of knapsacks have 3 + n + m + n m. The latter are told apart
by the optimum, which has to make sense, and by the parts of the file, which mostly begin on lines
of their own.
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
from islands.instances.sac94 import read_sac94

_KNAPSACKS = {"drake": read_drake, "sac94": read_sac94}
_DIGITS = 9
_ASK = "say which with --format qaplib, sac94 or drake"


def of_numbers(path: Path) -> str:
    """Return the format of a file: qaplib, drake or sac94."""
    with Lines.open(path) as lines:
        seen = _Seen.of(lines)
        first, second = seen.head
        of_qap, of_knapsack = 1 + 2 * first**2, 3 + first + second + first * second
        if seen.words == of_qap:
            return "qaplib"
        if of_knapsack in (seen.words, seen.numbers):
            if first * second == 0:
                raise lines.error(
                    f"it begins with {first} {second}, but a knapsack has at least one item and "
                    "one constraint. Correct it"
                )
            return _of_knapsack(path, first, second)
        raise lines.error(
            f"{seen.words} numbers: a file of QAPLIB that begins with {first} has {of_qap}, and "
            f"one of a knapsack that begins with {first} {second} has {of_knapsack}. Get the file "
            f"again if it is truncated, or correct its beginning; or {_ASK}"
        )


@dataclass(frozen=True)
class _Seen:
    """What is in a file; `numbers` are the words before the first that is no number."""

    head: tuple[int, int]
    words: int
    numbers: int

    @classmethod
    def of(cls, lines: Lines) -> Self:
        text = Numbers(lines)
        head: list[int] = []
        count = numbers = 0
        while (words := text.line()) is not None:
            for word in words[: 2 - len(head)]:
                head.append(_size(lines, word))
                # No format has more numbers.
                lines.allow(min(lines.longest, 3 + 3 * max(head) ** 2))
            if numbers == count:
                numbers += _leading(words)
            count += len(words)
        if not head:
            raise lines.error("the file is empty. Get it again")
        return cls((head[0], head[1] if len(head) > 1 else 0), count, numbers)


def _size(lines: Lines, word: bytes) -> int:
    if not word.isdigit() or len(word) > _DIGITS:
        raise lines.error(
            f"{shown(word)} is not a size of less than {_DIGITS + 1} digits, with which files of "
            f"QAPLIB and of knapsacks begin. Name a file in such a format, or {_ASK}"
        )
    return int(word)


def _leading(words: list[bytes]) -> int:
    """Return how many words there are before the first that is not a number."""
    if all(map(bytes.isdigit, words)):
        return len(words)
    return next((at for at, word in enumerate(words) if not is_number(word)), len(words))


def _of_knapsack(path: Path, first: int, second: int) -> str:
    sensible = [form for form in _KNAPSACKS if _makes_sense(path, form)]
    broken = [form for form, ends in _ends(first, second).items() if _end_lines(path, ends)]
    for one, other in ((sensible, broken), (broken, sensible)):
        if len(one) == 1 and (len(other) != 1 or one == other):
            return one[0]
    raise InputError(
        f"{path}: the numbers fit two formats, sac94 (m n, profits, capacities, weights, optimum) "
        f"and drake (n m optimum, profits, weights, capacities); {_ASK}"
    )


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
