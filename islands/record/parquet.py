"""Parquet files with a checksum of their rows and metadata.

The checksum depends only on the values, not on the encoding or the batch sizes.

Arrow's threads are not used: a thread that still runs at the exit of a short process would abort
it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.inside import opened
from islands.paths import published
from islands.untrusted import MISMATCH, parsing

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MOST_ROWS = 1 << 22
"""Maximum number of rows in memory: half a gigabyte at most, and twice as much in a report."""
_ROWS_AT_ONCE = 1 << 16
_MOST_PARTS = 1 << 13
"""The maximum number of row groups, or of entries of another list in the footer: Arrow allocates
these lists before it reads them."""
_LONGEST_METADATA = 1 << 24
"""Maximum number of bytes of a text in the footer, such as the result of the run."""
_LONGEST_TEXT = 32
"""Maximum number of bytes of a text in a column, as every row may repeat it."""
_BYTES_PER_VALUE, _OTHER_BYTES = 64, 1 << 16
"""Maximum number of bytes of a column per row, and of its dictionary and headers."""
_CHECKSUM = b"islands.sha256"
"""The metadata key of the checksum of the rows and all other metadata."""
_SCHEMA = b"ARROW:schema"
"""The metadata key of Arrow's own schema."""


class TooManyRowsError(InputError):
    """A file with more rows than a command reads."""


def require_at_most(path: Path, rows: int, most: int) -> None:
    """Reject more than `most` rows."""
    if rows > most:
        raise TooManyRowsError(f"{path}: has {rows} rows, but this command reads at most {most}")


def require_columns(schema: pa.Schema, columns: Collection[pa.Field]) -> None:
    """Raise a `ValueError` for a column whose name or type differs from `columns`."""
    if len({*schema.names}) < len(schema.names):
        raise ValueError("two of its columns have the same name")
    for field in schema:
        if field not in columns:
            raise ValueError(f"it has the column {field.name} {field.type}, which no run writes")


def rows_in(path: Path) -> int:
    """Return the number of rows in the footer of a file."""
    with parsing(path), opened(path) as stream, _parquet_file(stream) as file:
        return int(file.metadata.num_rows)


def metadata_of(path: Path) -> dict[bytes, bytes]:
    """Return the metadata of a file, without reading rows."""
    with parsing(path), opened(path) as stream, _parquet_file(stream) as file:
        return dict(file.metadata.metadata or {})


def write_parquet(path: Path, tables: Iterable[pa.Table], schema: pa.Schema) -> None:
    """Write tables one after the other to a file, atomically."""
    import pyarrow.parquet as pq

    rows = RowsChecksum(schema)
    # Pass an open file, as Arrow does not accept paths that are not UTF-8.
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


def read_parquet(
    path: Path,
    columns: Collection[pa.Field],
    most: int | None = None,
    keep: Callable[[pa.Table], pa.Table] | None = None,
) -> pa.Table:
    """Return the rows and the metadata of a file; reject a damaged file or other columns.

    Reject more than `most` rows; the default is `MOST_ROWS`, or the number of bytes of the file if
    that is larger. The file is read in pieces; `keep` returns the rows of a piece to keep.
    """
    import pyarrow as pa

    with parsing(path), opened(path) as stream, _parquet_file(stream) as file:
        left = file.metadata.num_rows
        size = os.fstat(stream.fileno()).st_size
        require_at_most(path, left, max(MOST_ROWS, size) if most is None else most)
        metadata = dict(file.metadata.metadata or {})
        stored = {key: metadata[key] for key in metadata.keys() - {_CHECKSUM, _SCHEMA}}
        fields = [(field.name, _plain(field.type)) for field in file.schema_arrow]
        schema = pa.schema(fields)
        require_columns(schema, columns)
        _require_small(file.metadata)
        rows, kept = RowsChecksum(schema), [schema.empty_table()]
        for batch in file.iter_batches(_ROWS_AT_ONCE, use_threads=False):
            left -= len(batch)
            if left < 0:  # the row groups have more than the footer states
                raise ValueError("it has more rows than its footer states")
            batch.validate(full=True)
            decoded = pa.RecordBatch.from_arrays([*map(_as_text, batch.columns)], schema=schema)
            rows.add(decoded)
            piece = pa.Table.from_batches([decoded])
            kept.append(piece if keep is None else keep(piece))
        computed = rows.hexdigest(stored).encode()
    if _CHECKSUM not in metadata:
        raise InputError(f"{path}: has no checksum: it was written by another version of islands")
    if metadata[_CHECKSUM] != computed:
        raise InputError(f"{path}: {MISMATCH}")
    return pa.concat_tables(kept).replace_schema_metadata(stored)


def _parquet_file(stream: IO[bytes]) -> pq.ParquetFile:
    """Open a file so that texts are read as dictionaries.

    Arrow then stores a repeated text once, and rejects delta encodings of texts.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    options = {
        "pre_buffer": False,
        "thrift_string_size_limit": _LONGEST_METADATA,
        "thrift_container_size_limit": _MOST_PARTS,
    }
    file = pq.ParquetFile(stream, **options)
    texts = [field.name for field in file.schema_arrow if field.type == pa.string()]
    if texts:
        file = pq.ParquetFile(stream, metadata=file.metadata, read_dictionary=texts, **options)
    return file


def _require_small(metadata: pq.FileMetaData) -> None:
    """Reject row groups that would expand to much more than a run writes.

    If a footer states too little, Arrow still reads one page at a time, of up to 2 GiB; with
    Snappy, which runs use, a page is at most 22 times as long as in the file. Do not use the
    metadata of columns: PyArrow aborts the process if those of a footer are damaged.
    """
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        rows, size = group.num_rows, group.total_byte_size
        most = metadata.num_columns * (_BYTES_PER_VALUE * rows + _OTHER_BYTES)
        if size > most:
            raise ValueError(f"{rows} rows have {size} bytes, more than {most}")


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a column that may be dictionary-encoded."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _as_text(column: pa.Array) -> pa.Array:
    """Decode a dictionary-encoded column; reject long texts."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    _, lengths = _text(column.dictionary)
    if np.frombuffer(lengths, np.int32).max(initial=0) > _LONGEST_TEXT:
        raise ValueError(f"a text has more than {_LONGEST_TEXT} bytes")
    return column.dictionary_decode()


class RowsChecksum:
    """The SHA-256 of the rows of a schema, which are added in batches of any size."""

    def __init__(self, schema: pa.Schema) -> None:
        # Two checksums per column: of the values, and of their validity or lengths.
        self._columns = {field: (hashlib.sha256(), hashlib.sha256()) for field in schema}

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows at the end."""
        for (values, extents), column in zip(self._columns.values(), batch.columns, strict=True):
            bits = _text(column) if str(column.type) == "string" else _numbers(column)
            values.update(bits[0])
            extents.update(bits[1])

    def hexdigest(self, metadata: Mapping[bytes, bytes] | None = None) -> str:
        """Return the checksum of the rows so far and of the metadata."""
        total = hashlib.sha256()
        for field, (values, extents) in self._columns.items():
            sums = f"{values.hexdigest()} {extents.hexdigest()}"
            total.update(f"{field.name} {field.type} {sums}\n".encode())
        for key, value in sorted((metadata or {}).items()):
            total.update(b"%d %s %d %s\n" % (len(key), key, len(value), value))
        return total.hexdigest()


def _numbers(column: pa.Array) -> tuple[bytes, bytes]:
    """Return the values of a column, with 0 for null, and their validity.

    Arrow's functions for this take a long time to import.
    """
    if len(column) == 0:
        return b"", b""
    validity, content = column.buffers()
    rows = slice(column.offset, column.offset + len(column))
    if column.type.bit_width == 1:
        values = _bits(content, rows)
    else:
        # As unsigned numbers, since only the bits matter.
        values = np.frombuffer(content, f"u{column.type.bit_width // 8}")[rows]
    if validity is None:
        return values.tobytes(), np.ones(len(column), bool).tobytes()
    valid = _bits(validity, rows)
    return np.where(valid, values, values.dtype.type(0)).tobytes(), valid.tobytes()


def _bits(buffer: pa.Buffer, rows: slice) -> NDArray[np.bool_]:
    """Return the bits of some rows of a buffer."""
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
