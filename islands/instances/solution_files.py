"""Helpers for solution files of all formats, and readers of run folders and JSON files."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.inside import inside
from islands.instances.lines import Lines, quoted, whole
from islands.paths import publish, reading
from islands.untrusted import bounded_text, followed, parsing

ENTRY_MAX = 2**31 - 1
"""Maximum item number in a solution file."""

_IN_A_ROW = 20
_base = ContextVar("_base", default=0)
"""The number of the first item and of the first position in messages: 0 or 1."""
_JSON_BASE = 1 << 20
_JSON_ENTRY = 64


@contextmanager
def counting_as_in(path: Path) -> Iterator[None]:
    """Let messages in the block number items as the file does: JSON from 0, text from 1."""
    before = _base.set(0 if path.suffix == ".json" else 1)
    try:
        yield
    finally:
        _base.reset(before)


class SolutionWords(NamedTuple):
    """Words for a solution in messages, such as *tour*, *city*, *cities* and *visited*."""

    whole: str
    item: str
    items: str
    taken: str


def solution_file(path: Path, suffix: str, whole: str) -> Path:
    """Return `path`; for a run's folder or Parquet file, return its solution file."""
    with reading(path):
        if path.name == "solution.parquet":
            path = path.parent
        if not path.is_dir():
            return path
        file = inside(path, f"solution{suffix}")
        if not file.exists():
            raise InputError(
                f"{path}: is a folder without {file.name}. Specify a file that contains the {whole}"
            )
        return file


def read_json(
    path: Path, n: int, words: SolutionWords, *, may_be_empty: bool = False
) -> NDArray[np.int64]:
    """Return the list in a JSON file, or under `solution` in the output of `run --json`."""
    largest = _JSON_BASE + _JSON_ENTRY * n
    text = bounded_text(path, largest, followed)
    with parsing(path, "is not JSON", "Correct it"):
        content: Any = json.loads(text.removeprefix("\ufeff"))  # byte order mark
    entries = content.get("solution") if isinstance(content, dict) else content
    if not isinstance(entries, list) or not (entries or may_be_empty):
        raise InputError(f"{path}: contains no list of {words.items}. Write one such as [0, 2, 1]")
    for position, entry in enumerate(entries):
        if type(entry) is not int or abs(entry) > ENTRY_MAX:
            raise InputError(
                f"{path}: entry {position}, counted from 0, is {str(entry)[:40]!r}, not a"
                f" {words.item}'s number. Correct it"
            )
    return np.array(entries, np.int64)


def item_of(lines: Lines, word: bytes, item: str) -> int:
    """Return the index, from 0, of an item; files count from 1. `item` is its name in messages."""
    if (number := whole(word, ENTRY_MAX)) is None:
        raise lines.error(f"{quoted(word)} is not the number of {item}. Correct it")
    return number - 1


def order_fault(order: NDArray[np.int64], n: int, words: SolutionWords) -> str | None:
    """Return why `order` is not a permutation of n items, or None.

    The message counts from 0, as arrays and JSON files do; see `counting_as_in` for other files.
    """
    if len(order) == n and bool((np.sort(order) == np.arange(n)).all()):
        return None
    item, taken, base = words.item, words.taken, _base.get()
    counted = "" if base else ", counted from 0,"
    outside = np.flatnonzero((order < 0) | (order >= n))
    if outside.size:
        first = outside[0]
        return (
            f"{item} {order[first] + base} at position {first + base}{counted} is not one of {base}"
            f" to {n - 1 + base}"
        )
    times = np.bincount(order, minlength=n)
    # Report the first repeated item in the order, not the lowest number.
    repeated = np.flatnonzero(times[order] > 1)
    if repeated.size:
        again = order[repeated[0]]
        first, second = np.flatnonzero(order == again)[:2] + base
        at = f"at positions {first} and {second}{counted}".rstrip(",")
        return f"{item} {again + base} is {taken} twice, {at}"
    missing = np.flatnonzero(times == 0)
    if missing.size:
        return (
            f"{item} {missing[0] + base}{counted} is not {taken}; "
            f"the {words.whole} has {len(order)} of {n} {words.items}"
        )
    return None


@dataclass(frozen=True)
class Remark:
    """One fact about a file: a key and a value for JSON, and a sentence for text."""

    key: str
    value: object
    words: str


def in_rows(numbers: Iterable[int]) -> list[str]:
    """Return lines of 20 numbers each."""
    words = list(map(str, numbers))
    return [" ".join(words[at : at + _IN_A_ROW]) for at in range(0, len(words), _IN_A_ROW)]


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a text file atomically."""
    publish(path, "".join(f"{line}\n" for line in lines))
