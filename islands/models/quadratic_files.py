"""Files of quadratic binary problems: those of qbsolv and the sparse ones of BiqMac."""

import re
from array import array
from pathlib import Path
from typing import Any

import numpy as np

from islands.errors import UsageError
from islands.instances.lines import quoted
from islands.instances.sizes import FEW_NODES, MOST_NODES_PER_EDGE, require_size
from islands.models.files import NumberFile
from islands.models.quadratic import Qubo, qubo

_WHOLE = re.compile(rb"[-+]?\d{1,40}")
_LARGEST = 2**62


def read(path: Path) -> Qubo:
    """Return the problem in a file of qbsolv or BiqMac, which is minimised.

    qbsolv: a line `p qubo 0 items diagonal others` with numbers of entries, then lines
    `i j entry`, with items from 0. BiqMac: numbers of items and entries, then lines `i j entry` of
    a triangle of a symmetric matrix, with items from 1; entries of two items count twice.
    """
    with NumberFile.open(path) as file:
        head = file.line() or []
        if head[:1] != [b"p"]:
            return qubo(symmetric(file, head))
        if head[1:2] != [b"qubo"] or len(head) != 6:
            raise file.wrong_form(head, "p qubo 0 items diagonal others")
        n = file.whole(head[3], "numbers of items", 1)
        diagonal, others = (file.whole(word, "numbers of entries") for word in head[4:])
        entries = _entries(file, n, diagonal + others, first=0)
        file.end()
        if (count := int((entries.row == entries.col).sum())) != diagonal:
            raise file.error(
                f"has {count} diagonal entries, but its head states {diagonal}, and {others}"
                " others. Correct the head"
            )
        return qubo(entries)


def sizes_of(file: NumberFile, head: list[bytes]) -> tuple[int, int]:
    """Return the numbers of items and of entries in the first line of a problem."""
    if len(head) != 2:
        raise file.error(
            f"{quoted(b' '.join(head))} is not of the form 'items entries', nor 'p qubo 0 items"
            " diagonal others'. Correct it, or specify the format of the file"
        )
    n, m = (file.whole(word, "sizes", 1) for word in head)
    return n, m


def symmetric(file: NumberFile, head: list[bytes], *, is_last: bool = True) -> Any:
    """Return the symmetric matrix whose triangle follows in a file; `head` has its sizes.

    Nothing may follow the last matrix of a file.
    """
    triangle = _entries(file, *sizes_of(file, head), first=1)
    if is_last:
        file.end()
    diagonal = triangle.copy()
    diagonal.data = np.where(triangle.row == triangle.col, 0, triangle.data)
    return triangle + diagonal.T


def _entries(file: NumberFile, n: int, m: int, first: int) -> Any:
    """Return the sparse matrix of the entries that follow, whose items are numbered from `first`.

    A file with few entries must not allocate memory for millions of items.
    """
    from scipy.sparse import coo_array

    most = max(FEW_NODES, MOST_NODES_PER_EDGE * m)
    require_size(f"a matrix of {m} entries", n, "rows", most, file.error)
    file.expect(f"a matrix of {m} entries", 3 * m)
    items, values = array("q"), list[float]()
    for k in range(m):
        if (line := file.line()) is None:
            raise file.error(
                f"the file ends after {k} of {m} entries. Get it again, or correct the sizes at its"
                " beginning"
            )
        if len(line) != 3:
            raise file.wrong_form(line, "i j entry")
        nodes = (file.whole(word, "numbers of items", first, n - 1 + first) for word in line[:2])
        items.extend(nodes)
        values.append(_entry(file, line[2]))
    pairs = np.array(items).reshape(m, 2) - first
    keys = pairs.min(axis=1) * n + pairs.max(axis=1)
    _, places, counts = np.unique(keys, return_index=True, return_counts=True)
    for place in places[counts > 1][:1]:
        i, j = (pairs[place] + first).tolist()
        raise UsageError(f"has the entry of {i} and {j} more than once. Leave one of them out")
    return coo_array((np.array(values), pairs.T), shape=(n, n))


def _entry(file: NumberFile, word: bytes) -> float:
    """Return an entry, an integer if it is written as one; reject integers that are too large."""
    if not _WHOLE.fullmatch(word):
        return file.real(word, "entries")
    if abs(entry := int(word)) > _LARGEST:
        raise file.error(
            f"{quoted(word)}, one of the entries: sums of whole numbers are only exact below"
            f" {_LARGEST}. Divide all of them, or write a decimal point"
        )
    return entry
