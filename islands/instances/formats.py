"""Recognise the format of a file by its suffix or, for `.dat` and `.txt`, by its numbers.

QAPLIB files have 1 + 2 n n numbers and up to two costs; knapsacks have 3 + n + m + n m. The two
knapsack formats are distinguished by the optimum, which must be plausible, and by the parts of the
file, which usually begin on new lines. With n = m = 2, all three formats may have 11 numbers.
"""

from dataclasses import dataclass
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError, UsageError
from islands.instances.lines import Lines, Numbers, is_number, quoted, whole
from islands.instances.mkp import ONE_INSTANCE
from islands.instances.qaplib import counts, read_qap
from islands.instances.sizes import MOST_NUMBERS
from islands.paths import suffix_of
from islands.text import option

SUFFIXES = {
    "tsplib": (".tsp", ".atsp"),
    "qaplib": (".dat", ".qap"),
    "orlib": (".txt",),
    "bqp": (".txt",),
    "sac94": (".dat",),
    "drake": (".dat",),
    "qubo": (".qubo", ".sparse"),
    "maxcut": (".mc", ".rud", ".rudy"),
}
"""The file suffixes of each format, also with `.gz`. The content decides between formats that share
a suffix."""
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
"""By format, the module of `islands.models` whose `read` returns the problem in a file. Most of
these formats have no suffix: their files are recognised by their set, folder or `--format`."""
EVERY_FORMAT = (*(form for form in SUFFIXES if form not in MODELS), *MODELS)
SEVERAL_INSTANCES = ("orlib", "bqp")
"""Formats with several instances per file, so that a file name does not identify an instance."""
FOUND_BY_NAME = tuple(
    dict.fromkeys(
        suffix for form in SUFFIXES if form not in SEVERAL_INSTANCES for suffix in SUFFIXES[form]
    )
)
"""The suffixes of files that are found by name; other files need a path."""

_PARTS = {
    "qaplib": "n optimum best, A, B",
    "drake": "n m optimum, profits, weights, capacities",
    "sac94": "m n, profits, capacities, weights, optimum",
}
_DIGITS = 9
_ENTRIES = 100
"""Maximum number of lines that are read to recognise quadratic problems."""


def recognised(path: Path) -> str:
    """Return the format of a file."""
    suffix = suffix_of(path.name)
    forms = [form for form, suffixes in SUFFIXES.items() if suffix in suffixes]
    if not forms:
        every = dict.fromkeys(chain.from_iterable(SUFFIXES.values()))
        known = ", ".join(f"{known}, {known}.gz" for known in every)
        raise UsageError(
            f"{path}: unknown suffix {suffix!r}. Known: {known}; or specify the format with"
            f" {option('format', list(EVERY_FORMAT))}"
        )
    if "orlib" in forms:
        return _of_text(path)
    return forms[0] if len(forms) == 1 else _of_numbers(path)


class _Commented(Numbers):
    """The words of a file without its comment lines, which files of models may have."""

    comments: ClassVar[tuple[bytes, ...]] = (b"c", b"#")


def _of_text(path: Path) -> str:
    """Return the format of a file of OR-Library: orlib for knapsacks, or bqp.

    A quadratic problem has two sizes on a line, then lines of three numbers, the first two of which
    are items. A file of several problems begins with their number; otherwise, it may be a graph.
    """
    with Lines.open(path) as lines:
        text = _Commented(lines)
        head = text.line() or []
        sizes = (text.line() or []) if len(head) == 1 else head
        if len(sizes) != 2 or not all(map(is_number, head + sizes)):
            return "orlib"
        n, m = (whole(word, MOST_NUMBERS) or 0 for word in sizes)
        # Stop at the first line that differs: lines of a knapsack may be too long to read several.
        entries = 0
        for words in islice(iter(text.line, None), min(m, _ENTRIES)):
            if len(words) != 3 or None in (whole(i, n) for i in words[:2]):
                return "orlib"
            entries += 1
    if not entries:
        return "orlib"
    if len(head) == 1:
        return "bqp"
    raise UsageError(
        f"{path}: has two sizes and lines of three numbers, as graphs and matrices have. Specify"
        f" its format with {option('format', ['maxcut', 'qubo', 'bqp', 'diversity'])}"
    )


def _specify_the_format() -> str:
    return f"specify the format with {option('format', ['qaplib', 'sac94', 'drake'])}"


def _of_numbers(path: Path) -> str:
    """Return the format of a file: qaplib, drake or sac94."""
    with Lines.open(path) as lines:
        count = _Counts.of(lines)
        plain, *valued = counts(count.first)
        # No knapsack has this count.
        if count.words == plain:
            return "qaplib"
        is_knapsack = count.of_knapsack in (count.words, count.numbers)
        if is_knapsack and count.sizes_fit_a_knapsack:
            if count.words in valued and _is_qap_of_two(path):
                raise _undecided(path, "sac94", "drake", "qaplib")
            return _of_layout(path, count.first, count.second)
        if count.words in valued:
            return "qaplib"
        if is_knapsack:
            raise lines.error(
                f"it begins with {count.first} {count.second}, but a knapsack has at least one item"
                " and one constraint. Correct the sizes"
            )
        raise lines.error(f"{_misfit(count)}; or {_specify_the_format()}")


@dataclass(frozen=True)
class _Counts:
    """How many words a file has; `numbers` counts the words before the first non-number."""

    first: int
    second: int
    """-1 if it can be a cost, but not the size of a knapsack."""
    in_first_line: int
    words: int
    numbers: int

    @property
    def sizes_fit_a_knapsack(self) -> bool:
        return min(self.first, self.second) > 0

    @property
    def of_knapsack(self) -> int:
        """How many numbers a knapsack of these sizes has; 0 if the sizes are invalid."""
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
                # Allow the length of the longest format with these sizes.
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


def _misfit(count: _Counts) -> str:
    """Return why a file matches no format, compared with the closest format."""
    first, second, words = count.first, count.second, count.words
    plain, valued, both = counts(first)
    # The first line of a knapsack has at least two numbers.
    is_nearer = abs(words - count.of_knapsack) < abs(words - plain)
    if count.sizes_fit_a_knapsack and count.in_first_line > 1 and is_nearer:
        return (
            f"{words} numbers: a knapsack that begins with {first} {second} has"
            f" {count.of_knapsack}: two sizes, the optimum, {first} + {second} profits and"
            f" capacities, and {first * second} weights. Get the file again if it is truncated, or"
            " correct the sizes"
        )
    hint = "Get the file again if it is truncated"
    if words > both:
        hint = f"Remove the last {words - plain}, such as a solution"
    return (
        f"{words} numbers: a file of QAPLIB that begins with {first} has {plain}: n and two"
        f" matrices of n x n; {valued} with the best known cost; {both} with the optimum too."
        f" {hint}, or correct n"
    )


def _size(lines: Lines, word: bytes) -> int:
    if (size := whole(word, 10**_DIGITS - 1)) is None:
        raise lines.error(
            f"{quoted(word)} is not a size of at most {_DIGITS} digits; files of QAPLIB and"
            f" of knapsacks begin with one. Specify a file in such a format,"
            f" or {_specify_the_format()}"
        )
    return size


def _second(lines: Lines, word: bytes) -> int:
    """Return the second number, or -1 for a cost, which only files of QAPLIB have there."""
    is_size = whole(word, 10**_DIGITS - 1) is not None
    is_cost = not is_size and is_number(word.removeprefix(b"-"))
    return -1 if is_cost else _size(lines, word)


def _leading(words: list[bytes]) -> int:
    """Return the count of words before the first that is not a number."""
    if all(map(bytes.isdigit, words)):
        return len(words)
    return next((at for at, word in enumerate(words) if not is_number(word)), len(words))


def _of_layout(path: Path, first: int, second: int) -> str:
    """Return the knapsack format of a file, from its optimum and its lines."""
    plausible = [form for form in ONE_INSTANCE if _is_plausible(path, form)]
    by_lines = [form for form, ends in _ends(first, second).items() if _end_lines(path, ends)]
    for one, other in ((plausible, by_lines), (by_lines, plausible)):
        if len(one) == 1 and (len(other) != 1 or one == other):
            return one[0]
    raise _undecided(path, "sac94", "drake")


def _undecided(path: Path, *forms: str) -> InputError:
    listed = " and ".join(f"{form} ({_PARTS[form]})" for form in forms)
    count = {2: "two", 3: "three"}[len(forms)]
    return InputError(f"{path}: the numbers fit {count} formats: {listed}; {_specify_the_format()}")


def _is_qap_of_two(path: Path) -> bool:
    """Return whether a file can be read as a QAP of two facilities and states their best cost."""
    try:
        file = read_qap(path)
    except InputError:
        return False
    # There are two assignments: in order, and swapped.
    costs = [int((file.a * b).sum()) for b in (file.b, file.b[::-1, ::-1])]
    return file.size == len(costs) and file.stated.value == min(costs)


def _ends(first: int, second: int) -> dict[str, list[int]]:
    """Return the count of numbers up to the end of each part, by format."""
    matrix = first * second
    parts = {"drake": [3, first, matrix, second], "sac94": [2, second, first, matrix, 1]}
    return {form: list(accumulate(counts)) for form, counts in parts.items()}


def _end_lines(path: Path, ends: list[int]) -> bool:
    """Return whether a line ends after each of these word counts."""
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


def _is_plausible(path: Path, form: str) -> bool:
    """Return whether a file can be read in a format and states a possible optimum."""
    try:
        with Lines.open(path) as lines:
            file = ONE_INSTANCE[form](Numbers(lines), "")
    except InputError:
        return False
    if file.optimum is None:
        return True
    fits = (file.weights <= file.capacities[:, np.newaxis]).all(axis=0)
    profits, weights = file.profits[fits], file.weights[:, fits]
    # The best item alone is a solution, and each constraint alone gives an upper bound.
    rows = zip(weights, file.capacities.tolist(), strict=True)
    bound = min(_bound(profits, row, capacity) for row, capacity in rows)
    return int(profits.max(initial=0)) <= file.optimum <= bound


def _bound(profits: NDArray[np.int64], weights: NDArray[np.int64], capacity: int) -> float:
    """Return the upper bound of one constraint: take the best items, the last one in part."""
    order = np.argsort(weights / np.maximum(profits, 0.5))
    loads = np.cumsum(weights[order])
    whole = int(np.count_nonzero(loads <= capacity))
    profit = float(profits[order[:whole]].sum())
    if whole < len(order):
        left = capacity - (int(loads[whole - 1]) if whole else 0)
        profit += float(profits[order[whole]]) * left / float(weights[order[whole]])
    return profit * (1 + 1e-9)
