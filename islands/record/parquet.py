"""Parquet files with a checksum of all their rows and metadata.

The checksum of rows depends only on their values, not on the file or the batch sizes.

Arrow's own threads are not used: a thread that still runs when a short process ends would end
it with `abort`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.paths import published
from islands.untrusted import MISMATCH, parsing

if TYPE_CHECKING:
    import pyarrow as pa

_CHECKSUM = b"islands.sha256"
"""The metadata key of the checksum of the rows and all other metadata."""
_SCHEMA = b"ARROW:schema"
"""The metadata key of Arrow's own schema."""


def write_parquet(path: Path, tables: Iterable[pa.Table], schema: pa.Schema) -> None:
    """Write tables one after the other to a file, which appears complete or not at all."""
    import pyarrow.parquet as pq

    rows = RowsChecksum(schema)
    # Pass an open file, as Arrow accepts no path that is not UTF-8.
    with (
        published(path) as temporary,
        temporary.open("wb") as stream,
        pq.ParquetWriter(stream, schema) as writer,
    ):
        for table in tables:
            for batch in table.to_batches():
                rows.add(batch)
            writer.write_table(table.replace_schema_metadata(schema.metadata))
        writer.add_key_value_metadata({_CHECKSUM: rows.hexdigest(schema.metadata)})


def read_parquet(path: Path) -> pa.Table:
    """Return the rows and metadata; refuse a damaged file."""
    import pyarrow.parquet as pq

    with (
        parsing(path),
        path.open("rb") as stream,
        pq.ParquetFile(stream, pre_buffer=False) as file,
    ):
        table = file.read(use_threads=False)
        table.validate(full=True)
        metadata = dict(file.metadata.metadata or {})
        said = {key: metadata[key] for key in metadata.keys() - {_CHECKSUM, _SCHEMA}}
        found = checksum(table, said).encode()
    if _CHECKSUM not in metadata:
        raise InputError(f"{path}: has no checksum: it was written by another version of islands")
    if metadata[_CHECKSUM] != found:
        raise InputError(f"{path}: {MISMATCH}")
    return table.replace_schema_metadata(said)


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
        values, extents = _text(column) if self._is_text else _numbers(column)
        self._values.update(values)
        self._extents.update(extents)

    def hexdigest(self) -> str:
        return f"{self._values.hexdigest()} {self._extents.hexdigest()}"


def _numbers(column: pa.Array) -> tuple[bytes, bytes]:
    """Return the values of a column, 0 for those that are null, and which are not null.

    Arrow's own functions for this take a long time to import.
    """
    if len(column) == 0:
        return b"", b""
    validity, content = column.buffers()
    rows = slice(column.offset, column.offset + len(column))
    if column.type.bit_width == 1:
        values = _bits(content, rows)
    else:
        # As numbers without a sign: only their bits count.
        values = np.frombuffer(content, f"u{column.type.bit_width // 8}")[rows]
    if validity is None:
        return values.tobytes(), np.ones(len(column), bool).tobytes()
    valid = _bits(validity, rows)
    return np.where(valid, values, values.dtype.type(0)).tobytes(), valid.tobytes()


def _bits(buffer: pa.Buffer, rows: slice) -> NDArray[np.bool_]:
    """Return bits of a buffer."""
    return np.unpackbits(np.frombuffer(buffer, np.uint8), bitorder="little")[rows].astype(bool)


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
