"""A checksum of rows that depends only on their values, not on the file or the batch sizes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


class RowsChecksum:
    """The SHA-256 of rows of one schema; add them in batches of any size."""

    def __init__(self, schema: pa.Schema) -> None:
        self._columns = {field: _ColumnChecksum(field.type) for field in schema}

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows at the end."""
        for checksum, column in zip(self._columns.values(), batch.columns, strict=True):
            checksum.add(column)

    def hexdigest(self, metadata: Mapping[bytes, bytes] | None = None) -> str:
        """Return the checksum of the rows so far and of the metadata."""
        whole = hashlib.sha256()
        for field, checksum in self._columns.items():
            whole.update(f"{field.name} {field.type} {checksum.hexdigest()}\n".encode())
        for key, value in sorted((metadata or {}).items()):
            whole.update(b"%d %s %d %s\n" % (len(key), key, len(value), value))
        return whole.hexdigest()


class _ColumnChecksum:
    """Checksums of the values of a column, and of their validity or lengths."""

    def __init__(self, kind: pa.DataType) -> None:
        import pyarrow as pa

        self._is_text = kind == pa.string()
        self._values, self._extents = hashlib.sha256(), hashlib.sha256()

    def add(self, column: pa.Array) -> None:
        if self._is_text:
            values, extents = _text(column)
        else:
            zero = False if column.type.bit_width == 1 else 0
            values = np.asarray(column.fill_null(zero)).tobytes()
            extents = np.asarray(column.is_valid()).tobytes()
        self._values.update(values)
        self._extents.update(extents)

    def hexdigest(self) -> str:
        return f"{self._values.hexdigest()} {self._extents.hexdigest()}"


def _text(column: pa.StringArray) -> tuple[bytes, bytes]:
    """Return the concatenated characters of a column, and the length of each value."""
    if len(column) == 0:
        return b"", b""
    _, offsets, characters = column.buffers()
    ends = np.frombuffer(offsets, np.int32)[column.offset : column.offset + len(column) + 1]
    text = b"" if characters is None else memoryview(characters)[ends[0] : ends[-1]].tobytes()
    return text, np.diff(ends).tobytes()


def checksum(table: pa.Table, metadata: Mapping[bytes, bytes] | None = None) -> str:
    """Return the checksum of a table and its metadata."""
    rows = RowsChecksum(table.schema)
    for batch in table.to_batches():
        rows.add(batch)
    return rows.hexdigest(metadata)
