"""The rows of a rank: an Arrow stream during the run, a Parquet file at its end.

A truncated stream is readable up to its end, a truncated Parquet file is not. Every start of a run
writes new streams, so that those of a checkpoint stay unchanged.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from islands.errors import InputError, UnwritableError
from islands.inside import opened
from islands.paths import writing
from islands.record.folder import UNFINISHED
from islands.record.parquet import (
    RowsChecksum,
    TooManyRowsError,
    checksum,
    metadata_of,
    read_parquet,
    require_columns,
    write_parquet,
)
from islands.text import counted
from islands.untrusted import MISMATCH, parsing

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = re.compile(rf"rank-(\d+)(?:\.(\d+){re.escape(UNFINISHED)}|\.parquet)")
_START, _RUN = b"islands.start", b"islands.run"
"""The metadata keys of the start that wrote a file, and of the identity of its run."""
_ROWS_PER_GROUP = 1 << 16
MOST_BYTES = 1 << 29
"""The maximum size of a stream that is read at once."""


@dataclass(frozen=True)
class Extent:
    """The number of rows of a record up to a checkpoint, and their checksum."""

    rows: int
    sha256: str


def finished_path(folder: Path, rank: int) -> Path:
    """Return the path of a rank's Parquet file."""
    return folder / f"rank-{rank:03}.parquet"


def stream_path(folder: Path, rank: int, start: int) -> Path:
    """Return the path of the stream of a rank and a start."""
    return folder / f"rank-{rank:03}.{start}{UNFINISHED}"


def rank_and_start(name: str) -> tuple[int, int] | None:
    """Return the rank and the start (0 for Parquet) in the name of a file; None for other names."""
    match = _NAME.fullmatch(name)
    return None if match is None else (int(match[1]), int(match[2] or 0))


class Stream:
    """Writes batches of rows of a schema."""

    def __init__(
        self, folder: Path, rank: int, start: int, schema: pa.Schema, identity: str = ""
    ) -> None:
        import pyarrow as pa

        self._rows, self._checksum = 0, RowsChecksum(schema)
        self._error: UnwritableError | None = None
        self._finished = finished_path(folder, rank)
        self._path = stream_path(folder, rank, start)
        self._schema = schema.with_metadata({_START: str(start), _RUN: identity})
        with writing(self._path):
            folder.mkdir(parents=True, exist_ok=True)
            self._sink = opened(self._path, "wb")
            self._stream = pa.ipc.new_stream(self._sink, self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Append rows, which stay readable if the process is killed.

        After a failure, the file may end with a part of a batch, and nothing more is written.
        """
        if self._error is not None:
            raise self._error
        try:
            with writing(self._path):
                self._stream.write_batch(batch)
                self._sink.flush()
        except UnwritableError as error:
            self._error = error
            raise
        self._rows += batch.num_rows
        self._checksum.add(batch)

    def synced(self) -> Extent:
        """Write all rows to disk and return their extent."""
        with writing(self._path):
            os.fsync(self._sink.fileno())
        return Extent(self._rows, self._checksum.hexdigest())

    def close(self) -> None:
        """End the stream."""
        with writing(self._path):
            self._stream.close()
            self._sink.close()

    def publish(self, metadata: Mapping[str, str]) -> None:
        """Write the Parquet file from the closed stream, which is kept."""
        schema = self._schema.with_metadata({**self._schema.metadata, **metadata})
        write_parquet(self._finished, self._grouped(), schema)

    def _grouped(self) -> Iterator[pa.Table]:
        """Yield the rows of many small batches as larger tables of limited size."""
        import pyarrow as pa

        group: list[pa.RecordBatch] = []
        rows, read = 0, RowsChecksum(self._schema)
        with parsing(self._path), opened(self._path) as source:
            _, batches = read_stream(source)
            for batch in batches:
                read.add(batch)
                group.append(batch)
                rows += batch.num_rows
                if rows >= _ROWS_PER_GROUP:
                    yield pa.Table.from_batches(group)
                    group, rows = [], 0
            if read.hexdigest() != self._checksum.hexdigest():
                raise InputError(f"{self._path}: {MISMATCH}")
        if group:
            yield pa.Table.from_batches(group)


def first_rows(folder: Path, rank: int, start: int, schema: pa.Schema, extent: Extent) -> pa.Table:
    """Return the first rows that a rank wrote in a start; reject rows if their checksum differs."""
    if extent.rows == 0:
        return schema.empty_table()
    path = rows_path(folder, rank, start)
    if path == finished_path(folder, rank):
        rows = read_parquet(path, [*schema])
    elif path.exists():
        rows = streamed_rows(path, [*schema], extent.rows)
    else:
        raise InputError(f"{path}: is missing")
    rows = rows.replace_schema_metadata(None)
    if not rows.schema.equals(schema):
        columns = ", ".join(f"{field.name} {field.type}" for field in schema)
        raise InputError(f"{path}: has other columns than {columns}")
    if rows.num_rows < extent.rows:
        raise InputError(f"{path}: contains {rows.num_rows} of {counted(extent.rows, 'row')}")
    rows = rows.slice(0, extent.rows)
    with parsing(path):
        if checksum(rows) != extent.sha256:
            raise InputError(f"{path}: {MISMATCH}")
    return rows


def rows_path(folder: Path, rank: int, start: int) -> Path:
    """Return the file with the rows of a rank and a start: the stream, or the Parquet file."""
    stream, parquet = stream_path(folder, rank, start), finished_path(folder, rank)
    if stream.exists() or not parquet.exists():
        return stream
    return parquet if _start_of(parquet) in (start, None) else stream


def streamed_rows(path: Path, columns: Collection[pa.Field], enough: int | None = None) -> pa.Table:
    """Return the complete batches of a stream, which another process may be writing.

    Read at least `enough` rows. By default, read all rows, and reject a file that is too large.
    """
    import pyarrow as pa

    batches: list[pa.RecordBatch] = []
    with parsing(path), opened(path) as source:
        size, left = os.fstat(source.fileno()).st_size, sys.maxsize if enough is None else enough
        if enough is None and size > MOST_BYTES:
            raise TooManyRowsError(f"{path}: has {size} bytes, more than {MOST_BYTES}")
        schema, reader = read_stream(source)
        require_columns(schema, columns)
        try:
            while left > 0 and (batch := next(reader, None)) is not None:
                batches.append(batch)
                left -= batch.num_rows
        except (pa.ArrowInvalid, OSError) as error:
            # An error of Arrow, which has no errno, at the end of the file is about a batch that a
            # process is writing, or was writing when it was killed. Earlier batches are complete.
            if getattr(error, "errno", None) is not None or source.tell() < size:
                raise
    return pa.Table.from_batches(batches, schema)


def read_stream(source: IO[bytes]) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the schema of a stream and its batches, which may end with an Arrow error.

    Reject batches with more bytes than the file: they are compressed, but runs do not compress.
    """
    import pyarrow as pa

    # This reader checks the kinds of messages; other readers of PyArrow may crash on wrong kinds.
    reader = pa.ipc.open_stream(source)

    def batches() -> Iterator[pa.RecordBatch]:
        total = 0
        for batch in reader:
            total += batch.get_total_buffer_size()  # does not read the unvalidated content
            if total > (size := os.fstat(source.fileno()).st_size):
                raise ValueError(f"its rows have {total} bytes, more than the {size} of the file")
            try:
                batch.validate(full=True)
            except pa.ArrowInvalid as error:
                raise ValueError(str(error)) from error  # a complete batch is damaged
            yield batch

    return reader.schema, batches()


def stream_metadata(path: Path) -> dict[bytes, bytes]:
    """Return the metadata of a stream, without reading rows."""
    with parsing(path), opened(path) as source:
        schema, _ = read_stream(source)
        return dict(schema.metadata or {})


def _start_of(path: Path) -> int | None:
    """Return the start that wrote a Parquet file; None if the file cannot be read."""
    with suppress(InputError), parsing(path):
        return int(metadata_of(path)[_START])
    return None
