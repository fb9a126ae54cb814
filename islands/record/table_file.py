"""Tab-separated tables with a checksum in each row."""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from islands.errors import InputError
from islands.paths import published, reading
from islands.untrusted import MISMATCH, parsing

Row = dict[str, str]

_CHECKSUM = "sha256"
"""The last column."""

# The solution of a large instance is a single field.
csv.field_size_limit(sys.maxsize)


def read_table(
    path: Path, columns: Sequence[str], what: str, added: Mapping[str, str] | None = None
) -> list[Row]:
    """Return the rows of a table, empty without a file; refuse other columns.

    `what` describes the rows in messages. Tables of earlier versions lack the columns `added`, of
    which the values are given.
    """
    added = added or {}
    with reading(path):
        if not path.exists():
            return []
    with parsing(path), path.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream, dialect="excel-tab", restval="")
        rows = list(reader)
        names = tuple(reader.fieldnames or ())
    present = tuple(name for name in columns if name in names or name not in added)
    if names != (*present, _CHECKSUM):
        raise InputError(
            f"{path}: is not a table of {what} with the columns {', '.join(columns)}, {_CHECKSUM}."
            " Remove it, or name another folder"
        )
    for number, row in enumerate(rows, 2):
        if None in row or row.pop(_CHECKSUM) != _checksum(row, present):
            raise InputError(
                f"{path}: line {number}: {MISMATCH}. Remove the line; it will be computed again"
            )
    return [{**added, **row} for row in rows]


def write_table(
    path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, object]], *, sealed: bool = True
) -> None:
    """Write a table atomically; only a `sealed` one has checksums."""
    with (
        published(path) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        names = [*columns, _CHECKSUM] if sealed else [*columns]
        writer = csv.DictWriter(stream, names, dialect="excel-tab", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({**row, _CHECKSUM: _checksum(row, columns)} if sealed else row)


def _checksum(row: Mapping[str, object], columns: Sequence[str]) -> str:
    cells = json.dumps([str(row[name]) for name in columns])
    return hashlib.sha256(cells.encode()).hexdigest()
