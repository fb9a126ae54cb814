from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from islands.errors import InputError, IslandsError, UnwritableError
from islands.record import tables as reading
from islands.record.parquet import RowsChecksum
from islands.record.stream import Extent, Stream, finished_path, first_rows, stream_path

SCHEMA = pa.schema([("number", pa.int64()), ("word", pa.string())])


def batch(*numbers: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"number": n, "word": f"w{n}"} for n in numbers], SCHEMA)


def written(folder: Path, *batches: pa.RecordBatch, rank: int = 0, start: int = 1) -> Stream:
    stream = Stream(folder, rank, start, SCHEMA)
    for each in batches:
        stream.write(each)
    return stream


def extent(*numbers: int) -> Extent:
    """Return the extent of a record with a row for each number."""
    rows = RowsChecksum(SCHEMA)
    rows.add(batch(*numbers))
    return Extent(len(numbers), rows.hexdigest())


def numbers(folder: Path, *wanted: int, start: int = 1) -> list[int]:
    found = first_rows(folder, 0, start, SCHEMA, extent(*wanted)).column("number").to_pylist()
    return [int(number) for number in found]


def test_the_first_rows_of_an_unfinished_stream(tmp_path: Path) -> None:
    stream = written(tmp_path, batch(1, 2), batch(3))
    assert stream.secured() == extent(1, 2, 3)
    for wanted in ([], [1], [1, 2, 3]):
        assert numbers(tmp_path, *wanted) == wanted
    with pytest.raises(InputError, match="checksum mismatch"):
        numbers(tmp_path, 1, 3)


@pytest.mark.slow
def test_every_flipped_bit_of_a_stream_is_detected_or_harmless(tmp_path: Path) -> None:
    written(tmp_path, batch(1, 2), batch(3))
    path = stream_path(tmp_path, 0, 1)
    content = bytearray(path.read_bytes())
    noticed = 0
    for place in range(len(content)):
        content[place] ^= 1 << place % 8
        path.write_bytes(content)
        try:
            assert numbers(tmp_path, 1, 2, 3) == [1, 2, 3]
        except InputError:
            noticed += 1
        content[place] ^= 1 << place % 8
    assert noticed > len(content) // 4


def test_after_a_failure_a_stream_takes_no_more_rows(tmp_path: Path) -> None:
    """A second attempt could write rows twice, which checkpoints would count as different ones."""
    stream = written(tmp_path, batch(1))
    complete = stream._sink

    def flush() -> None:
        complete.flush()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    stream._sink = SimpleNamespace(flush=flush)  # type: ignore[assignment]
    with pytest.raises(UnwritableError):
        stream.write(batch(2))
    stream._sink = complete
    with pytest.raises(UnwritableError):
        stream.write(batch(2))
    assert stream.secured() == extent(1)
    assert numbers(tmp_path, 1) == [1]


def test_a_truncated_stream_gives_its_complete_rows(tmp_path: Path) -> None:
    stream = written(tmp_path, batch(1, 2))
    size = stream_path(tmp_path, 0, 1).stat().st_size
    stream.write(batch(3, 4))
    path = stream_path(tmp_path, 0, 1)
    content = path.read_bytes()
    for cut in range(size, len(content)):
        path.write_bytes(content[:cut])
        assert numbers(tmp_path, 1, 2) == [1, 2]
        with pytest.raises(InputError, match=r"rank-000\.1"):
            numbers(tmp_path, 1, 2, 3)
    for cut in (0, 1, 20):
        path.write_bytes(content[:cut])
        with pytest.raises(InputError, match=r"rank-000\.1"):
            numbers(tmp_path, 1, 2)


def test_a_disk_that_cannot_be_read_is_not_the_end_of_a_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> Iterator[Any]:
        yield batch(1, 2)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = stream_path(tmp_path, 0, 1)
    written(tmp_path, batch(1, 2), batch(3))
    assert reading._streamed(path, [*SCHEMA]).num_rows == 3
    monkeypatch.setattr(reading, "read_stream", lambda _: (SCHEMA, failing()))
    with pytest.raises(IslandsError, match=r"rank-000\.1.*Input/output error"):
        reading._streamed(path, [*SCHEMA])


def test_the_rows_of_a_finished_run_are_in_its_parquet_file(tmp_path: Path) -> None:
    stream = written(tmp_path, batch(1, 2), batch(3), start=4)
    stream.close()
    stream.publish({"islands.seed": "9"})
    schema = pq.read_schema(finished_path(tmp_path, 0))
    assert schema.metadata[b"islands.seed"] == b"9"
    stream_path(tmp_path, 0, 4).unlink()
    assert numbers(tmp_path, 1, 2, start=4) == [1, 2]
    with pytest.raises(InputError, match=r"rank-000\.3\.unfinished\.arrows: is missing"):
        numbers(tmp_path, 1, 2, start=3)


def test_a_stream_of_rows_without_bytes_is_refused(tmp_path: Path) -> None:
    path = stream_path(tmp_path / "trace", 0, 1)
    path.parent.mkdir()
    column = pa.Array.from_buffers(pa.null(), (1 << 31) - 1, [None])
    rows = pa.RecordBatch.from_arrays([column], ["island"])
    with path.open("wb") as sink, pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_batch(rows)
    with pytest.raises(InputError):
        reading.read_records(tmp_path, "trace")
