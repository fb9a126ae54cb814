"""Read tables and arrays that others may have written, with limits; write tables."""

import csv
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.inside import inside, opened
from islands.paths import published, writing
from islands.tables import cells
from islands.untrusted import parsing

Row = dict[str, str]

_MOST_BYTES, _MOST_CELLS, _MOST_COLUMNS = 1 << 28, 1 << 22, 1000
"""Limits for tables; a table of 100000 runs is smaller."""

# The solution of a large instance, of up to ten million numbers, is a single field.
csv.field_size_limit(1 << 27)
_LARGEST_ARRAYS = 1 << 27
"""Maximum number of bytes of the arrays of a problem, unless its file is trusted: enough for a
dense matrix of 4000 x 4000."""


def bounded_rows(path: Path, delimiter: str) -> list[Row]:
    """Return the rows of a table; reject a table that is too large.

    The value of a missing cell is None, and so is the key of additional cells.
    """
    with parsing(path), opened(path, "r", newline="", encoding="utf-8") as stream:
        is_long = os.fstat(stream.fileno()).st_size > _MOST_BYTES
        reader = csv.DictReader(_narrow(stream, delimiter), delimiter=delimiter)
        most = _MOST_CELLS // max(1, 0 if is_long else len(reader.fieldnames or ()))
        rows = [] if is_long else list(islice(reader, most + 1))
    if is_long or len(rows) > most:
        raise InputError(
            f"{path}: has more than {_MOST_BYTES} bytes or {_MOST_CELLS} cells, the limits for a"
            " table. Specify another folder, or restore it"
        )
    return rows


def _narrow(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """Yield the lines; reject a line with too many columns."""
    for line in lines:
        if line.count(delimiter) > _MOST_COLUMNS:
            raise ValueError(f"a line has more than {_MOST_COLUMNS} columns")
        yield line


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> None:
    """Write a table atomically."""
    with (
        published(inside(path.parent, path.name)) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        writer = csv.DictWriter(stream, columns, dialect="excel-tab", lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(cells, rows))


def append_row(path: Path, columns: Sequence[str], row: Mapping[str, object]) -> None:
    """Append a row to a table, which is created if necessary, in a single write."""
    text = StringIO(newline="")
    writer = csv.DictWriter(text, columns, dialect="excel-tab", lineterminator="\n")
    if not path.exists():
        writer.writeheader()
    writer.writerow(cells(row))
    with writing(path), opened(path, "a+b") as stream:
        stream.write(text.getvalue().encode())


class TooLargeError(InputError):
    """A file whose arrays have more bytes than may be read."""


@contextmanager
def arrays_file(path: Path, *, is_compressed: bool = False) -> Iterator[Any]:
    """Open a file and yield its arrays by name.

    Unless it `is_compressed`, reject compressed arrays, which may expand to gigabytes.
    """
    with parsing(path), opened(path) as stream, np.load(stream, allow_pickle=False) as file:
        methods = {entry.compress_type for entry in file.zip.infolist()}
        if not is_compressed and methods - {zipfile.ZIP_STORED}:
            raise ValueError("it is compressed, but runs write it uncompressed")
        yield file


def read_arrays(path: Path, fix: str, most: int = _LARGEST_ARRAYS) -> dict[str, NDArray[Any]]:
    """Return all arrays of a file; reject more than `most` bytes. The error ends with `fix`."""
    with arrays_file(path, is_compressed=True) as file:
        size = sum(entry.file_size for entry in file.zip.infolist())
        if size > most:
            raise TooLargeError(f"{path}: its arrays have {size} bytes, more than {most}. {fix}")
        return {name: file[name] for name in file.files}
