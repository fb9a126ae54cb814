"""Recognise the format of a file by its suffix or, for `.dat`, by the count of its numbers.

QAPLIB files have 1 + 2 n n numbers and up to two costs; knapsacks have 3 + n + m + n m. The two
knapsack formats are distinguished by the optimum, which must be plausible.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError, UsageError
from islands.instances.lines import Lines, Numbers, is_number, shown
from islands.instances.mkp import read_drake, read_sac94
from islands.instances.qaplib import counts
from islands.paths import suffix_of
from islands.text import option

SUFFIXES = {
    "tsplib": (".tsp", ".atsp"),
    "qaplib": (".dat", ".qap"),
    "orlib": (".txt",),
    "sac94": (".dat",),
    "drake": (".dat",),
    "qubo": (".qubo", ".sparse"),
    "maxcut": (".mc", ".rud", ".rudy"),
}
"""The suffixes of the files of each format, also with `.gz`; the content of a `.dat` decides."""
MODELS = {
    "jobshop": "job_shops",
    "flexiblejobshop": "flexible_shops",
    "flowshop": "flow_shops",
    "setcover": "covering",
    "maxcut": "cuts",
    "colouring": "colouring",
    "pmedian": "medians",
    "binpacking": "packing",
    "diversity": "diversity",
    "qubo": "quadratic_files",
    "bqp": "beasley",
}
"""The formats of `islands.models`: the module whose `read` returns the problem in a file. Most such
files have no suffixes of their own: they are known by their set, their folder or `--format`."""
EVERY_FORMAT = (*(form for form in SUFFIXES if form not in MODELS), *MODELS)
OF_SEVERAL = ("orlib", "bqp")
"""The formats of files with several instances, whose names do not say which one."""
FOUND_BY_NAME = tuple(
    dict.fromkeys(
        suffix for form, each in SUFFIXES.items() if form not in OF_SEVERAL for suffix in each
    )
)
"""The suffixes of files that are found by name; other files need a path."""

_KNAPSACKS = {"drake": read_drake, "sac94": read_sac94}
_DIGITS = 9


def recognised(path: Path) -> str:
    """Return the format of a file."""
    suffix = suffix_of(path.name)
    forms = [form for form, suffixes in SUFFIXES.items() if suffix in suffixes]
    if not forms:
        every = dict.fromkeys(each for suffixes in SUFFIXES.values() for each in suffixes)
        known = ", ".join(f"{each}, {each}.gz" for each in every)
        raise UsageError(
            f"{path}: unknown suffix {suffix!r}. Known: {known}; or name the format with"
            f" {option('format', list(EVERY_FORMAT))}"
        )
    if forms == ["orlib"] and _has_entries(path):
        of_entries = option("format", ["maxcut", "qubo", "bqp", "diversity"])
        raise UsageError(
            f"{path}: has two sizes and lines of three numbers, as graphs and matrices have. Name"
            f" its format with {of_entries}"
        )
    return forms[0] if len(forms) == 1 else _of_numbers(path)


def _has_entries(path: Path) -> bool:
    """Return whether a file begins with a line of two numbers and one of three, unlike knapsacks.

    These begin with their number alone, or with a text.
    """
    with Lines.open(path) as lines:
        beginning = [(lines.line() or b"").split() for _ in range(2)]
    return [*map(len, beginning)] == [2, 3] and all(map(is_number, beginning[0]))


def _ask() -> str:
    return f"name the format with {option('format', ['qaplib', 'sac94', 'drake'])}"


def _of_numbers(path: Path) -> str:
    """Return the format of a file: qaplib, drake or sac94."""
    with Lines.open(path) as lines:
        first, second, words, leading = _counted(lines)
        # Words may follow a knapsack in SAC-94's layout.
        is_knapsack = min(first, second) > 0 and _of_knapsack(first, second) in (words, leading)
        is_qap = words in counts(first)
        if is_qap and not is_knapsack:
            return "qaplib"
        if not is_knapsack:
            raise lines.error(
                f"{words} numbers: a file of QAPLIB that begins with {first} has"
                f" {counts(first)[0]}, and up to two costs; a knapsack that begins with {first}"
                f" {second} has {_of_knapsack(first, second)}. Get the file again if it is"
                f" truncated, or correct the sizes; or {_ask()}"
            )
    forms = [form for form in _KNAPSACKS if _is_plausible(path, form)]
    if is_qap or len(forms) > 1:
        raise InputError(f"{path}: its numbers fit several formats. Instead, {_ask()}")
    return forms[0] if forms else "drake"  # whose reader says what is wrong


def _counted(lines: Lines) -> tuple[int, int, int, int]:
    """Return the first two numbers, and the counts of words and of those before the first other.

    The second is -1 if it cannot be the size of a knapsack, but can be a cost.
    """
    text, head, count, leading = Numbers(lines), list[int](), 0, 0
    while (words := text.line()) is not None:
        for word in words[: 2 - len(head)]:
            head.append(_second(lines, word) if head else _size(lines, word))
            # No format has more numbers.
            most = max(*counts(head[0]), _of_knapsack(head[0], head[-1]))
            lines.allow(min(lines.longest, most))
        if leading == count:
            leading += _leading(words)
        count += len(words)
    if not head:
        raise lines.error("the file is empty. Get it again")
    return head[0], head[1] if head[1:] else 0, count, leading


def _of_knapsack(n: int, m: int) -> int:
    return 3 + n + m + n * m


def _size(lines: Lines, word: bytes) -> int:
    if not word.isdigit() or len(word) > _DIGITS:
        raise lines.error(
            f"{shown(word)} is not a size of at most {_DIGITS} digits, with which files of "
            f"QAPLIB and of knapsacks begin. Name a file in such a format, or {_ask()}"
        )
    return int(word)


def _second(lines: Lines, word: bytes) -> int:
    """Return the second number, or -1 for a cost, which only files of QAPLIB have there."""
    is_size = word.isdigit() and len(word) <= _DIGITS
    is_cost = not is_size and is_number(word.removeprefix(b"-"))
    return -1 if is_cost else _size(lines, word)


def _leading(words: list[bytes]) -> int:
    """Return the count of words before the first that is not a number."""
    if all(map(bytes.isdigit, words)):
        return len(words)
    return next((at for at, word in enumerate(words) if not is_number(word)), len(words))


def _is_plausible(path: Path, form: str) -> bool:
    """Return whether a file can be read in a format and states a possible optimum."""
    try:
        with Lines.open(path) as lines:
            file = _KNAPSACKS[form](Numbers(lines), "")
    except InputError:
        return False
    if file.optimum is None:
        return True
    fits = (file.weights <= file.capacities[:, np.newaxis]).all(axis=0)
    profits, weights = file.profits[fits], file.weights[:, fits]
    # The best item alone is a solution, and each constraint alone gives an upper bound.
    bounds = (
        _bound(profits, *each) for each in zip(weights, file.capacities.tolist(), strict=True)
    )
    return int(profits.max(initial=0)) <= file.optimum <= min(bounds)


def _bound(profits: NDArray[np.int64], weights: NDArray[np.int64], capacity: int) -> float:
    """Return the linear bound of one constraint: the best items by weight, the last in part."""
    order = np.argsort(weights / np.maximum(profits, 0.5))
    loads = np.cumsum(weights[order])
    whole = int(np.count_nonzero(loads <= capacity))
    profit = float(profits[order[:whole]].sum())
    if whole < len(order):
        left = capacity - (int(loads[whole - 1]) if whole else 0)
        profit += float(profits[order[whole]]) * left / float(weights[order[whole]])
    return profit * (1 + 1e-9)
