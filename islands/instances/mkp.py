"""Read knapsack problems with n items and m constraints, and scale the numbers to integers.

Drake's layout: n, m and the optimum or 0; n profits; m rows of n weights; m capacities.
SAC-94's layout: m and n; n profits; m capacities; m rows of n weights; the optimum; then any words.
S. Khuri, T. Bäck, J. Heitkötter: The zero/one multiple knapsack problem and genetic algorithms.
Proceedings of the 1994 ACM Symposium on Applied Computing.

A file of OR-Library contains several instances. `mknap1` and `mknapcb1` to `mknapcb9` begin with
the number of instances, which follow in Drake's layout. `mknap2` has prose, then instances in
SAC-94's layout, each after a line `problem NAME.DAT` and a line of plus signs.
J. E. Beasley: OR-Library, distributing test problems by electronic mail. Journal of the Operational
Research Society 41, 1990.
"""

from array import array
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError, UsageError
from islands.instances.lines import Lines, Numbers, decimals, is_number, quoted, scaled
from islands.instances.sizes import require_size
from islands.instances.solution_files import (
    SolutionWords,
    in_rows,
    item_of,
    read_json,
    solution_file,
    write_lines,
)
from islands.paths import without_gz
from islands.text import counted, option, unknown

_SUBSET = SolutionWords("subset", "chosen item", "chosen items", "chosen")

MOST_ITEMS = 1_000_000
MOST_CONSTRAINTS = 100_000

LARGEST = 200_000_000
"""Maximum number of weights; they take 1.6 GB."""

SUM_MAX = 2**60
"""Sums below this bound fit into 64 bits, even if they are doubled."""


@dataclass(frozen=True)
class MkpFile:
    """The content of a file: choose items for profit within the capacity of each constraint.

    All numbers are integers. The profits and the optimum are those of the file times `unit`; each
    constraint is multiplied by its own power of ten, which does not change the problem.
    """

    name: str
    path: Path | None
    profits: NDArray[np.int64]
    weights: NDArray[np.int64]
    """A row for each constraint."""
    capacities: NDArray[np.int64]
    unit: int = 1
    optimum: int | None = None
    """The best profit stated in the file, or None."""
    places: tuple[int, ...] = ()
    """The number of decimals of each constraint in the file; empty if there are no decimals."""

    @property
    def size(self) -> int:
        """The number of items."""
        return len(self.profits)

    def shown(self, constraint: int, load: int) -> str:
        """Return a weight or capacity of a constraint exactly as in the file."""
        places = self.places[constraint] if self.places else 0
        return f"{load // 10**places}.{load % 10**places:0{places}}" if places else str(load)


class ScaledRow(NamedTuple):
    """Numbers and their sum as integers, multiplied by ten to the power of `places`."""

    whole: NDArray[np.int64]
    total: int
    places: int


def read_sizes(numbers: Numbers, *, items_first: bool) -> tuple[int, int]:
    """Return the numbers of items and constraints; check that the file is long enough for them."""
    items = ("the number of items", MOST_ITEMS)
    constraints = ("the number of constraints", MOST_CONSTRAINTS)
    if items_first:
        n, m = numbers.size(*items), numbers.size(*constraints)
    else:
        m, n = numbers.size(*constraints), numbers.size(*items)
    sizes = f"{counted(n, 'item')} and {counted(m, 'constraint')}"
    require_size(f"a knapsack of {sizes}", n * m, "weights", LARGEST, numbers.error)
    numbers.lines.expect(f"{sizes} need", n * m + n + m + 1)
    return n, m


def read_row(numbers: Numbers, count: int, what: str) -> ScaledRow:
    """Return the next `count` numbers; `what` is their name in the plural."""
    return _row(numbers, numbers.take(count, what), what)


def read_values(numbers: Numbers, count: int, what: str) -> list[ScaledRow]:
    """Return the next `count` numbers, each as a separate row."""
    return [_row(numbers, [word], what) for word in numbers.take(count, what)]


def _row(numbers: Numbers, words: list[bytes], what: str) -> ScaledRow:
    places = decimals(words)
    whole = scaled(words, places)
    _check(numbers, sum(whole), places, what)
    return ScaledRow(np.array(whole, np.int64), sum(whole), places)


def _scaled_file(
    numbers: Numbers,
    name: str,
    profits: ScaledRow,
    weights: list[ScaledRow],
    capacities: list[ScaledRow],
    best: ScaledRow,
) -> MkpFile:
    """Return the instance with these numbers, scaled to integers."""
    units, optimum = _same_scale(numbers, profits, best, "profits")
    unit, total = 10 ** max(profits.places, best.places), int(units.sum())
    if optimum > total:
        raise numbers.error(
            f"the stated best profit of {name} is {Decimal(optimum) / unit}, but the sum of all"
            f" profits is {Decimal(total) / unit}. Correct it, or write 0 if it is unknown"
        )
    pairs = list(zip(weights, capacities, strict=True))
    matrix = np.empty((len(weights), len(units)), np.int64)
    limits = np.empty(len(weights), np.int64)
    for i, (row, limit) in enumerate(pairs):
        matrix[i], limits[i] = _same_scale(numbers, row, limit, f"weights of constraint {i + 1}")
    return MkpFile(
        name=name,
        path=numbers.lines.path,
        profits=units,
        weights=matrix,
        capacities=limits,
        unit=unit,
        optimum=optimum or None,
        places=tuple(max(row.places, limit.places) for row, limit in pairs),
    )


def _same_scale(
    numbers: Numbers, row: ScaledRow, limit: ScaledRow, what: str
) -> tuple[NDArray[np.int64], int]:
    """Return a row and the limit on its sum, scaled to the same number of decimals."""
    places = max(row.places, limit.places)
    times, limit_times = 10 ** (places - row.places), 10 ** (places - limit.places)
    _check(numbers, row.total * times, places, what)
    _check(numbers, limit.total * limit_times, places, f"limit of the {what}")
    # If all numbers are 0, the factor may exceed 64 bits.
    return row.whole * (times if row.total else 1), limit.total * limit_times


def _check(numbers: Numbers, total: int, places: int, what: str) -> None:
    if total >= SUM_MAX:
        times = f" with {places} decimals scaled away" if places else ""
        raise numbers.error(
            f"the {what}: their sum is {total}{times}, and only sums below {SUM_MAX} are exact. "
            "Divide by a common factor, or round the decimals"
        )


def read_drake(numbers: Numbers, name: str) -> MkpFile:
    """Return the only instance of a file in Drake's layout."""
    file = read_problem(numbers, name)
    end(numbers, "the instance")
    return file


def read_problem(numbers: Numbers, name: str) -> MkpFile:
    """Return the next instance in Drake's layout."""
    n, m = read_sizes(numbers, items_first=True)
    best = read_row(numbers, 1, "optima")
    profits = read_row(numbers, n, "profits")
    weights = [read_row(numbers, n, f"weights of constraint {i + 1}") for i in range(m)]
    capacities = read_values(numbers, m, "capacities")
    return _scaled_file(numbers, name, profits, weights, capacities, best)


def skip_problem(numbers: Numbers) -> None:
    """Skip the next instance."""
    n, m = read_sizes(numbers, items_first=True)
    numbers.skip(
        n * m + n + m + 1, f"numbers of {counted(n, 'item')} and {counted(m, 'constraint')}"
    )


def end(numbers: Numbers, what: str, *, may_have_text: bool = False) -> None:
    """Raise an error if anything follows; with `may_have_text`, only if a number does."""
    after = numbers.next()
    if after and (is_number(after[0]) or not may_have_text):
        raise numbers.error(
            f"{quoted(after[0])} follows the last number of {what}. "
            "Remove it and the rest, or correct the sizes"
        )


def read_sac94(numbers: Numbers, name: str) -> MkpFile:
    """Return the next instance in SAC-94's layout; no number may follow it."""
    n, m = read_sizes(numbers, items_first=False)
    profits = read_row(numbers, n, "profits")
    capacities = read_values(numbers, m, "capacities")
    weights = [read_row(numbers, n, f"weights of constraint {i + 1}") for i in range(m)]
    best = read_row(numbers, 1, "optima")
    file = _scaled_file(numbers, name, profits, weights, capacities, best)
    end(numbers, "the instance", may_have_text=True)
    return file


_MOST = 10_000


def read_orlib(numbers: Numbers, name: str, part: int | None) -> MkpFile:
    """Return the instance with index `part` in a file; None means the only instance."""
    first = numbers.next(2)
    if not first:
        raise numbers.error("the file is empty. Get it again")
    # Prose may also begin with a number.
    if all(map(is_number, first)):
        return _read_counted(numbers, name, part)
    return _read_titled(numbers, part)


def _read_counted(numbers: Numbers, name: str, part: int | None) -> MkpFile:
    count = numbers.size("the number of problems", _MOST)
    chosen = part_of(numbers.lines.path, part, count)
    for _ in range(chosen):
        skip_problem(numbers)
    file = read_problem(numbers, name if count == 1 else f"{name}-{chosen:02}")
    for _ in range(chosen + 1, count):
        skip_problem(numbers)
    end(numbers, f"the {counted(count, 'problem')}")
    return file


def _read_titled(numbers: Numbers, part: int | None) -> MkpFile:
    names: list[str] = []
    file: MkpFile | None = None
    while (line := numbers.line()) is not None:
        name = _title(line)
        if name is None:
            continue
        _skip_rule(numbers)
        problem = read_sac94(numbers, name)
        if len(names) == (part or 0):
            file = problem
        names.append(name)
    if not names:
        raise numbers.error(
            "neither a number of problems at the beginning nor a line 'problem NAME.DAT'. "
            f"Specify a file of OR-Library, or specify its format with {option('format')}"
        )
    part_of(numbers.lines.path, part, len(names), names)
    assert file is not None, "the part was read"
    return file


def _title(line: list[bytes]) -> str | None:
    """Return the name in a line such as `problem WEING1.DAT`."""
    if len(line) != 2 or line[0].lower() != b"problem" or not line[1].lower().endswith(b".dat"):
        return None
    return line[1][: -len(b".dat")].decode("ascii", "replace")


def _skip_rule(numbers: Numbers) -> None:
    if all(not word.strip(b"+") for word in numbers.next()):
        numbers.line()


def part_of(path: Path, part: int | None, count: int, names: list[str] | None = None) -> int:
    """Return the index of the requested instance in a file of `count` instances."""
    if part is None and count == 1:
        return 0
    if part is None or part >= count:
        named = f" ({', '.join(names)})" if names else ""
        choice = f"{path}:00" if count == 1 else f"one of {path}:00 to {path}:{count - 1:02}{named}"
        requested = path if part is None else f"{path}:{part:02}"
        contents = counted(count, "problem")
        raise InputError(f"{requested}: the file contains {contents}. Specify {choice}")
    return part


ONE_INSTANCE = {"sac94": read_sac94, "drake": read_drake}
"""The readers of files with one instance."""
FORMATS = ("orlib", *ONE_INSTANCE)


def read_mkp(path: Path, form: str, part: int | None = None) -> MkpFile:
    """Return an instance from a file, plain or gzipped; `part` is its index in the file."""
    if form not in FORMATS:
        raise UsageError(f"{path}: {unknown('format of knapsacks', form, FORMATS)}")
    name = Path(without_gz(path.name)).stem
    with Lines.open(path) as lines:
        numbers = Numbers(lines)
        if form == "orlib":
            return read_orlib(numbers, name, part)
        if part:
            raise InputError(f"{path}:{part:02}: the file contains one problem. Specify {path}")
        return ONE_INSTANCE[form](numbers, name)


def read_sol(path: Path, n: int) -> NDArray[np.int64]:
    """Return the subset in a file or in a run's folder: 1 for each chosen item, else 0."""
    path = solution_file(path, ".sol", _SUBSET.whole)
    is_json = path.suffix == ".json"
    items = read_json(path, n, _SUBSET, may_be_empty=True) if is_json else _read_sol(path, n)
    first = 0 if is_json else 1
    subset = np.zeros(n, np.int64)
    for item in items.tolist():
        if not 0 <= item < n:
            raise InputError(
                f"{path}: item {item + first} is not one of {first} to {n - 1 + first}. "
                "Correct it, or specify a solution of this instance"
            )
        if subset[item]:
            raise InputError(f"{path}: item {item + first} is chosen twice. Remove one")
        subset[item] = 1
    return subset


def write_sol(path: Path, solution: NDArray[np.int64]) -> None:
    """Write the chosen items."""
    write_lines(path, in_rows((np.flatnonzero(solution) + 1).tolist()))


def _read_sol(path: Path, n: int) -> NDArray[np.int64]:
    """Return the items in a file, counted from 0; an empty file is the empty subset."""
    items = array("q")
    with Lines.open(path) as lines:
        lines.allow(n)
        while (words := lines.words()) is not None:
            items.extend(item_of(lines, word, "an item") for word in words)
    return np.array(items, np.int64)
