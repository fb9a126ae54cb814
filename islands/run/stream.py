"""Rows of one rank: an Arrow stream while a run lasts, a Parquet file when it has ended.

A Parquet file cannot be read until its end is written; a stream that was cut off can, up to there.
Each start of a run writes streams of its own: those a checkpoint belongs to stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from islands.errors import InputError
from islands.paths import published, reading, writing
from islands.run.folder import UNFINISHED

if TYPE_CHECKING:
    import pyarrow as pa

_START = b"islands.start"
"""The key of a file's metadata that holds which start of the run wrote it."""
_ROWS_A_GROUP = 1 << 16


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

        self.rows = 0
        """How many have been written."""
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
        self.rows += batch.num_rows

    def sync(self) -> None:
        """Return when what was written would survive the machine."""
        with writing(self._path):
            os.fsync(self._sink.fileno())

    def close(self) -> None:
        """End the stream."""
        with writing(self._path):
            self._stream.close()
            self._sink.close()

    def publish(self, metadata: Mapping[str, str]) -> None:
        """Write the Parquet file of a closed stream, which stays."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = self._schema.with_metadata({**self._schema.metadata, **metadata})
        with (
            published(self._finished) as temporary,
            self._path.open("rb") as source,
            temporary.open("wb") as target,  # as Arrow takes no path that is not UTF-8
            pq.ParquetWriter(target, schema) as writer,
        ):
            for table in _grouped(pa.ipc.open_stream(source)):
                writer.write_table(table.replace_schema_metadata(schema.metadata))


def _grouped(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
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


def first_rows(folder: Path, rank: int, start: int, schema: pa.Schema, count: int) -> pa.Table:
    """Return the first rows that a rank wrote in one start of the run; refuse fewer."""
    import pyarrow as pa

    if count == 0:
        return schema.empty_table()
    path = stream_path(folder, rank, start)
    if path.exists():
        found = pa.Table.from_batches(_whole_batches(path, schema), schema)
    else:
        path = finished_path(folder, rank)
        found = _published_rows(path, start, schema)
    if found.num_rows < count:
        raise InputError(f"{path}: holds {found.num_rows} rows of {count}")
    return found.slice(0, count)


def _whole_batches(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the batches before the place at which a stream was cut off, if it was."""
    import pyarrow as pa

    with reading(path), path.open("rb") as source:
        try:
            reader = pa.ipc.open_stream(source)
        except (pa.ArrowInvalid, OSError):
            return
        _require(path, reader.schema, schema)
        while True:
            try:
                yield reader.read_next_batch().replace_schema_metadata(None)
            except (StopIteration, pa.ArrowInvalid, OSError):
                return


def _published_rows(path: Path, start: int, schema: pa.Schema) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with reading(path), path.open("rb") as source:
            found = pq.read_table(source)
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: {error}") from error
    if (found.schema.metadata or {}).get(_START) != str(start).encode():
        raise InputError(f"{path}: was not written by start {start} of the run")
    _require(path, found.schema, schema)
    return found.replace_schema_metadata(None)


def _require(path: Path, found: pa.Schema, wanted: pa.Schema) -> None:
    if not found.equals(wanted):
        columns = ", ".join(f"{field.name} {field.type}" for field in wanted)
        raise InputError(f"{path}: has other columns than {columns}")
