"""Subsets in files: the numbers of the chosen items, from 1 in `.sol` and from 0 in JSON."""

from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.instances.lines import Lines, shown
from islands.instances.orders import ENTRY_MAX, Words, read_json, solution_file
from islands.paths import published

_WORDS = Words("subset", "chosen item", "chosen items", "chosen")
_IN_A_ROW = 20


def read_sol(path: Path, n: int) -> NDArray[np.int64]:
    """Return the subset in a file or in a run's folder: 1 for each chosen item, else 0."""
    path = solution_file(path, ".sol", _WORDS.whole)
    is_json = path.suffix == ".json"
    items = read_json(path, n, _WORDS, may_be_empty=True) if is_json else _read_sol(path, n)
    first = 0 if is_json else 1
    subset = np.zeros(n, np.int64)
    for item in items.tolist():
        if not 0 <= item < n:
            raise InputError(
                f"{path}: item {item + first} is not one of {first} to {n - 1 + first}. "
                "Correct it, or name a solution of this instance"
            )
        if subset[item]:
            raise InputError(f"{path}: item {item + first} is chosen twice. Remove one")
        subset[item] = 1
    return subset


def write_sol(path: Path, solution: NDArray[np.int64]) -> None:
    """Write the chosen items."""
    items = [str(item + 1) for item in np.flatnonzero(solution).tolist()]
    rows = [items[start : start + _IN_A_ROW] for start in range(0, len(items), _IN_A_ROW)]
    with published(path) as temporary:
        temporary.write_text("".join(" ".join(row) + "\n" for row in rows), encoding="utf-8")


def _read_sol(path: Path, n: int) -> NDArray[np.int64]:
    """Return the items in a file, counted from 0; an empty file is the empty subset."""
    items = array("q")
    with Lines.open(path) as lines:
        lines.allow(n)
        while (words := lines.words()) is not None:
            for word in words:
                if not word.isdigit() or len(word) > 10 or int(word) > ENTRY_MAX:
                    raise lines.error(f"{shown(word)} is not the number of an item. Correct it")
                items.append(int(word) - 1)
    return np.array(items, np.int64)
