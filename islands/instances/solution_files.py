"""Read and write solution files: run folders, JSON lists, and helpers shared by all formats."""

import json
from collections.abc import Iterable
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
"""The largest item number that a solution file of an order may contain."""

_IN_A_ROW = 20
_JSON_BASE = 1 << 20
_JSON_ENTRY = 64


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
                f"{path}: is a folder without {file.name}. Name a file that contains the {whole}"
            )
        return file


def read_json(
    path: Path, n: int, words: SolutionWords, *, may_be_empty: bool = False
) -> NDArray[np.int64]:
    """Return the list in a JSON file, or under `solution` in the output of `run --json`."""
    largest = _JSON_BASE + _JSON_ENTRY * n
    text = bounded_text(path, largest, followed)
    with parsing(path, "is not JSON", "Correct it"):
        content: Any = json.loads(text)
    entries = content.get("solution") if isinstance(content, dict) else content
    if not isinstance(entries, list) or not (entries or may_be_empty):
        raise InputError(f"{path}: contains no list of {words.items}. Write one such as [0, 2, 1]")
    for position, entry in enumerate(entries):
        if type(entry) is not int or abs(entry) > ENTRY_MAX:
            raise InputError(
                f"{path}: item {position} is {str(entry)[:40]!r}, not a {words.item}'s number. "
                "Correct it"
            )
    return np.array(entries, np.int64)


def item_of(lines: Lines, word: bytes, item: str) -> int:
    """Return the index, from 0, of an item; files count from 1. `item` is its name in messages."""
    if (number := whole(word, ENTRY_MAX)) is None:
        raise lines.error(f"{quoted(word)} is not the number of {item}. Correct it")
    return number - 1


def order_fault(order: NDArray[np.int64], n: int, words: SolutionWords) -> str | None:
    """Return why `order` is not a permutation of n items (numbered from 1), or None."""
    if len(order) == n and bool((np.sort(order) == np.arange(n)).all()):
        return None
    item, taken = words.item, words.taken
    outside = np.flatnonzero((order < 0) | (order >= n))
    if outside.size:
        first = outside[0]
        return f"{item} {order[first] + 1} at position {first + 1} is not one of 1 to {n}"
    times = np.bincount(order, minlength=n)
    # Report the first repeated item in the order, not the lowest number.
    repeated = np.flatnonzero(times[order] > 1)
    if repeated.size:
        again = order[repeated[0]]
        first, second = np.flatnonzero(order == again)[:2] + 1
        return f"{item} {again + 1} is {taken} twice, at positions {first} and {second}"
    missing = np.flatnonzero(times == 0)
    if missing.size:
        return (
            f"{item} {missing[0] + 1} is not {taken}; "
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
