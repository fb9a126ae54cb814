"""Rows of one rank: an Arrow stream while a run lasts, a Parquet file when it has ended.

A Parquet file cannot be read until its end is written; a stream that was cut off can, up to there.
Each start of a run writes streams of its own: those a checkpoint belongs to stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from islands.errors import InputError
from islands.paths import writing
from islands.record.content import RowsChecksum, checksum
from islands.record.folder import UNFINISHED
from islands.record.parquet import read_parquet, write_parquet
from islands.text import counted
from islands.untrusted import MISMATCH, parsing

if TYPE_CHECKING:
    import pyarrow as pa

_START = b"islands.start"
"""The key of a file's metadata that holds which start of the run wrote it."""
_ROWS_A_GROUP = 1 << 16


@dataclass(frozen=True)
class Extent:
    """The first rows of a record: how many, and the checksum of what they say."""

    rows: int
    sha256: str


def finished_path(folder: Path, rank: int) -> Path:
    """Return the Parquet file of a rank."""
    return folder / f"rank-{rank:03}.parquet"


def stream_path(folder: Path, rank: int, start: int) -> Path:
    """Return the stream of a rank, which the so manieth start of the run writes."""
    return folder / f"rank-{rank:03}.{start}{UNFINISHED}"


class Stream:
    """Takes batches of rows of one schema."""

    def __init__(self, folder: Path, rank: int, start: int, schema: pa.Schema) -> None:
        import pyarrow as pa

        self._rows, self._checksum = 0, RowsChecksum(schema)
        self._finished = finished_path(folder, rank)
        self._path = stream_path(folder, rank, start)
        self._schema = schema.with_metadata({_START: str(start)})
        with writing(self._path):
            folder.mkdir(parents=True, exist_ok=True)
            self._sink = self._path.open("wb")
            self._stream = pa.ipc.new_stream(self._sink, self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows, which a killed process leaves readable."""
        with writing(self._path):
            self._stream.write_batch(batch)
            self._sink.flush()
        self._rows += batch.num_rows
        self._checksum.add(batch)

    def secured(self) -> Extent:
        """Return what has been written, when it would survive the machine."""
        with writing(self._path):
            os.fsync(self._sink.fileno())
        return Extent(self._rows, self._checksum.hexdigest())

    def close(self) -> None:
        """End the stream."""
        with writing(self._path):
            self._stream.close()
            self._sink.close()

    def publish(self, metadata: Mapping[str, str]) -> None:
        """Write the Parquet file of a closed stream, which stays."""
        import pyarrow as pa

        schema = self._schema.with_metadata({**self._schema.metadata, **metadata})
        with self._path.open("rb") as source:
            write_parquet(self._finished, _grouped(pa.ipc.open_stream(source)), schema)


def _grouped(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the rows of many small batches in few tables, so that memory stays small as well."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS_A_GROUP:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def first_rows(folder: Path, rank: int, start: int, schema: pa.Schema, extent: Extent) -> pa.Table:
    """Return the first rows that a rank wrote in one start of the run; refuse others."""
    if extent.rows == 0:
        return schema.empty_table()
    path = rows_path(folder, rank, start)
    if path == finished_path(folder, rank):
        found = _published_rows(path, schema)
    elif path.exists():
        found = _streamed_rows(path, schema, extent.rows)
    else:
        raise InputError(f"{path}: is missing")
    if found.num_rows < extent.rows:
        raise InputError(f"{path}: holds {found.num_rows} of {counted(extent.rows, 'row')}")
    found = found.slice(0, extent.rows)
    with parsing(path):
        is_as_written = checksum(found) == extent.sha256
    if not is_as_written:
        raise InputError(f"{path}: {MISMATCH}")
    return found


def rows_path(folder: Path, rank: int, start: int) -> Path:
    """Return the file with the rows of a rank: the stream, or what was made of it at the end."""
    streamed, published = stream_path(folder, rank, start), finished_path(folder, rank)
    is_there = not streamed.exists() and published.exists()
    return published if is_there and _start_of(published) in (start, None) else streamed


def _streamed_rows(path: Path, schema: pa.Schema, enough: int) -> pa.Table:
    """Return rows of a stream, which may be cut off where there are enough."""
    import pyarrow as pa

    batches: list[pa.RecordBatch] = []
    with parsing(path), path.open("rb") as source:
        reader = pa.ipc.open_stream(source)
        _require(path, reader.schema, schema)
        for batch in reader:
            batch.validate(full=True)
            batches.append(batch.replace_schema_metadata(None))
            enough -= batch.num_rows
            if enough <= 0:
                break
    return pa.Table.from_batches(batches, schema)


def _start_of(path: Path) -> int | None:
    """Return which start of the run wrote a Parquet file; None where it cannot be read."""
    import pyarrow.parquet as pq

    try:
        with parsing(path), path.open("rb") as source:
            return int((pq.read_schema(source).metadata or {})[_START])
    except InputError:
        return None


def _published_rows(path: Path, schema: pa.Schema) -> pa.Table:
    found = read_parquet(path)
    _require(path, found.schema, schema)
    return found.replace_schema_metadata(None)


def _require(path: Path, found: pa.Schema, wanted: pa.Schema) -> None:
    if not found.equals(wanted):
        columns = ", ".join(f"{field.name} {field.type}" for field in wanted)
        raise InputError(f"{path}: has other columns than {columns}")
