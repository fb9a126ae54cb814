"""Parquet files with a checksum of all their rows and metadata.

The checksum of rows depends only on their values, not on the file or the batch sizes.

Arrow's own threads are not used: a thread that still runs when a short process ends would end
it with `abort`.
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
"""The rows that are read at once: they take up to half a gigabyte, and a report of them a whole."""
_ROWS_AT_ONCE = 1 << 16
_MOST_PARTS = 1 << 13
"""Groups of rows, and entries of any other list in the footer, which Arrow allocates before it
reads them."""
_LONGEST_METADATA = 1 << 24
"""Bytes of a text in the footer, such as the result of the run."""
_LONGEST_TEXT = 32
"""Bytes of a text in a column: few, as a dictionary contains once what every row may have."""
_BYTES_A_VALUE, _OTHER_BYTES = 64, 1 << 16
"""The most that a column has for a row, and besides for its dictionary and the headers."""
_CHECKSUM = b"islands.sha256"
"""The metadata key of the checksum of the rows and all other metadata."""
_SCHEMA = b"ARROW:schema"
"""The metadata key of Arrow's own schema."""


class TooManyRowsError(InputError):
    """A file has more rows than a command reads."""


def require_at_most(path: Path, rows: int, most: int) -> None:
    """Refuse a number of rows that takes too long or too much memory."""
    if rows > most:
        raise TooManyRowsError(
            f"{path}: has {rows} rows, more than {most}, the most that this command reads"
        )


def require_columns(found: pa.Schema, columns: Collection[pa.Field]) -> None:
    """Raise a `ValueError` for a column of another name or type than `columns`."""
    others = [each for each in found if each not in columns]
    if len({*found.names}) < len(found.names):
        raise ValueError("it has two columns of a name")
    if others:
        raise ValueError(f"it has the column {others[0].name} {others[0].type}, as no run writes")


def rows_in(path: Path) -> int:
    """Return the number of rows that a file states."""
    with parsing(path), opened(path) as stream, _parquet_file(stream) as file:
        return int(file.metadata.num_rows)


def metadata_of(path: Path) -> dict[bytes, bytes]:
    """Return what a file says about itself; read no rows."""
    with parsing(path), opened(path) as stream, _parquet_file(stream) as file:
        return dict(file.metadata.metadata or {})


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


def read_parquet(
    path: Path,
    columns: Collection[pa.Field],
    most: int | None = None,
    keep: Callable[[pa.Table], pa.Table] | None = None,
) -> pa.Table:
    """Return the rows and metadata; refuse a damaged file, and one with more than `most` rows.

    Without `most`, a file may have a row for each of its bytes; real rows take more.
    The rows are read in pieces. `keep` returns the rows of a piece that are kept. A file with
    another column than `columns` is refused before any is read.
    """
    import pyarrow as pa

    with parsing(path), opened(path) as stream, _parquet_file(stream) as file:
        left = file.metadata.num_rows
        size = os.fstat(stream.fileno()).st_size
        require_at_most(path, left, max(MOST_ROWS, size) if most is None else most)
        metadata = dict(file.metadata.metadata or {})
        said = {key: metadata[key] for key in metadata.keys() - {_CHECKSUM, _SCHEMA}}
        schema = pa.schema(pa.field(each.name, _plain(each.type)) for each in file.schema_arrow)
        require_columns(schema, columns)
        _require_small(file.metadata)
        rows, kept = RowsChecksum(schema), [schema.empty_table()]
        for batch in file.iter_batches(_ROWS_AT_ONCE, use_threads=False):
            left -= len(batch)
            if left < 0:  # the groups of rows state more than the file
                raise ValueError("it has more rows than it states")
            batch.validate(full=True)
            decoded = [_as_text(each) for each in batch.columns]
            part = pa.RecordBatch.from_arrays(decoded, schema=schema)
            rows.add(part)
            piece = pa.Table.from_batches([part])
            kept.append(piece if keep is None else keep(piece))
        found = rows.hexdigest(said).encode()
    if _CHECKSUM not in metadata:
        raise InputError(f"{path}: has no checksum: it was written by another version of islands")
    if metadata[_CHECKSUM] != found:
        raise InputError(f"{path}: {MISMATCH}")
    return pa.concat_tables(kept).replace_schema_metadata(said)


def _parquet_file(stream: IO[bytes]) -> pq.ParquetFile:
    """Open a file whose texts are read as dictionaries.

    Then Arrow keeps each text once, and refuses encodings that make a text of the one before.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    options = {
        "pre_buffer": False,
        "thrift_string_size_limit": _LONGEST_METADATA,
        "thrift_container_size_limit": _MOST_PARTS,
    }
    file = pq.ParquetFile(stream, **options)
    texts = [each.name for each in file.schema_arrow if each.type == pa.string()]
    if texts:
        file = pq.ParquetFile(stream, metadata=file.metadata, read_dictionary=texts, **options)
    return file


def _require_small(metadata: pq.FileMetaData) -> None:
    """Refuse groups of rows that would expand to much more than a run writes.

    If a footer states too little, Arrow still reads a page at a time, of up to 2 GiB; the one of a
    run, which Snappy has compressed, is at most 22 times as long as in the file. The metadata of
    columns are not looked at: from a damaged footer, PyArrow ends the process there.
    """
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        rows, size = group.num_rows, group.total_byte_size
        most = metadata.num_columns * (_BYTES_A_VALUE * rows + _OTHER_BYTES)
        if size > most:
            raise ValueError(f"{rows} rows have {size} bytes, more than {most}")


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values of a column, which may be a dictionary."""
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _as_text(column: pa.Array) -> pa.Array:
    """Return a column with its values instead of codes; refuse long texts."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    _, lengths = _text(column.dictionary)
    if np.frombuffer(lengths, np.int32).max(initial=0) > _LONGEST_TEXT:
        raise ValueError(f"a text has more than {_LONGEST_TEXT} bytes")
    return column.dictionary_decode()


class RowsChecksum:
    """The SHA-256 of rows of one schema; add them in batches of any size."""

    def __init__(self, schema: pa.Schema) -> None:
        # Of each column: of its values, and of their validity or lengths.
        self._columns = {field: (hashlib.sha256(), hashlib.sha256()) for field in schema}

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows at the end."""
        for (values, extents), column in zip(self._columns.values(), batch.columns, strict=True):
            bits = _text(column) if str(column.type) == "string" else _numbers(column)
            values.update(bits[0])
            extents.update(bits[1])

    def hexdigest(self, metadata: Mapping[bytes, bytes] | None = None) -> str:
        """Return the checksum of the rows so far and of the metadata."""
        whole = hashlib.sha256()
        for field, (values, extents) in self._columns.items():
            sums = f"{values.hexdigest()} {extents.hexdigest()}"
            whole.update(f"{field.name} {field.type} {sums}\n".encode())
        for key, value in sorted((metadata or {}).items()):
            whole.update(b"%d %s %d %s\n" % (len(key), key, len(value), value))
        return whole.hexdigest()


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
