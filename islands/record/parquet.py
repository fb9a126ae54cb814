"""Parquet files with a checksum of all their rows and metadata.

The checksum of rows depends only on their values, not on the file or the batch sizes.

Arrow's own threads are not used: a thread that still runs when a short process ends would end
it with `abort`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.inside import opened
from islands.paths import published
from islands.record.pages import LONGEST_TEXT, Contents
from islands.untrusted import MISMATCH, parsing

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

MOST_ROWS = 1 << 22
"""The rows that are read at once: they take up to half a gigabyte, and a report of them a whole."""
_ROWS_AT_ONCE = 1 << 16
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


def most_rows_of(path: Path) -> int:
    """Return the most rows that a file may have: real ones take more than a byte each."""
    return max(MOST_ROWS, 512 * path.stat().st_blocks)


def require_columns(found: pa.Schema, columns: Collection[pa.Field]) -> None:
    """Raise a `ValueError` for a column of another name or type than `columns`."""
    others = [each for each in found if each not in columns]
    if len({*found.names}) < len(found.names):
        raise ValueError("it has two columns of a name")
    if others:
        raise ValueError(f"it has the column {others[0].name} {others[0].type}, as no run writes")


def rows_in(path: Path) -> int:
    """Return the number of rows that a file states."""
    with parsing(path), opened(path) as stream:
        return Contents.of(stream).rows


def metadata_of(path: Path) -> dict[bytes, bytes]:
    """Return what a file says about itself; read no rows."""
    with parsing(path), opened(path) as stream, _parquet_file(stream) as (_, file):
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
    most: int = MOST_ROWS,
    keep: Callable[[pa.Table], pa.Table] | None = None,
) -> pa.Table:
    """Return the rows and metadata; refuse a damaged file, and one with more than `most` rows.

    The rows are read in pieces. `keep` returns the rows of a piece that are kept. A file with
    another column than `columns` is refused before any is read.
    """
    import pyarrow as pa

    with parsing(path), opened(path) as stream, _parquet_file(stream) as (contents, file):
        require_at_most(path, contents.rows, most)
        metadata = dict(file.metadata.metadata or {})
        said = {key: metadata[key] for key in metadata.keys() - {_CHECKSUM, _SCHEMA}}
        schema = pa.schema(
            pa.field(each.name, pa.string() if pa.types.is_dictionary(each.type) else each.type)
            for each in file.schema_arrow
        )
        require_columns(schema, columns)
        contents.require_small(stream)
        rows, kept = RowsChecksum(schema), [schema.empty_table()]
        for batch in file.iter_batches(_ROWS_AT_ONCE, use_threads=False):
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


@contextmanager
def _parquet_file(stream: BufferedReader) -> Iterator[tuple[Contents, pq.ParquetFile]]:
    """Open a file of which Arrow may read the metadata; refuse what no run writes."""
    import pyarrow.parquet as pq

    contents = Contents.of(stream)
    # The values of a column of text may be few: keep each of them once.
    with pq.ParquetFile(stream, pre_buffer=False, read_dictionary=contents.texts) as file:
        if not all(map(_is_of_runs, file.schema_arrow)):
            raise ValueError("it has columns that no run writes")
        yield contents, file


def _is_of_runs(field: pa.Field) -> bool:
    import pyarrow as pa

    kind = field.type
    is_text = pa.types.is_dictionary(kind) and kind.value_type == pa.string()
    return bool(is_text or pa.types.is_primitive(kind))


def _as_text(column: pa.Array) -> pa.Array:
    """Return a column with its values instead of codes; refuse long texts."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    _, lengths = _text(column.dictionary)
    if np.frombuffer(lengths, np.int32).max(initial=0) > LONGEST_TEXT:
        raise ValueError(f"a text has more than {LONGEST_TEXT} bytes")
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
