"""The rows of a trace and of migrants, and their streams."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes import FakeProblem, arrivals

from islands.archipelago.measure import IslandMeasure
from islands.errors import InputError, IslandsError, UnwritableError
from islands.progress.progress import Epoch, Progress
from islands.record import stream as streams
from islands.record import tables as reading
from islands.record.parquet import RowsChecksum, write_parquet
from islands.record.records import Migrations, Trace
from islands.record.stream import (
    Extent,
    Stream,
    finished_path,
    first_rows,
    stream_path,
    streamed_rows,
)
from islands.record.tables import Thinning, read_records

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
    assert stream.synced() == extent(1, 2, 3)
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

    stream._sink = SimpleNamespace(flush=flush)
    with pytest.raises(UnwritableError):
        stream.write(batch(2))
    stream._sink = complete
    with pytest.raises(UnwritableError):
        stream.write(batch(2))
    assert stream.synced() == extent(1)
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


def test_damage_before_the_end_of_a_stream_is_an_error(tmp_path: Path) -> None:
    """Only the last batch may be incomplete: the run may be writing it."""
    stream = written(tmp_path, batch(1, 2))
    path = stream_path(tmp_path, 0, 1)
    first = path.stat().st_size
    stream.write(batch(3))
    second = path.stat().st_size
    stream.write(batch(4))
    content = path.read_bytes()
    for end in range(first, second):
        path.write_bytes(content[:end])
        assert streamed_rows(path, [*SCHEMA]).num_rows == 2
    damaged = bytearray(content)
    damaged[first + 16] ^= 0xFF  # in the metadata of the second batch
    path.write_bytes(damaged)
    with pytest.raises(InputError, match=r"rank-000\.1.*is damaged or cut off"):
        streamed_rows(path, [*SCHEMA])


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        ("structure", "is damaged or cut off"),
        ("value", "checksum mismatch"),
        ("end", "checksum mismatch"),
    ],
)
def test_a_run_does_not_finish_with_a_damaged_stream(
    tmp_path: Path, place: str, fault: str
) -> None:
    folder = tmp_path / "trace"
    stream = written(folder, batch(1, 2))
    path = stream_path(folder, 0, 1)
    size = path.stat().st_size
    stream.write(batch(3))
    stream.close()
    content = bytearray(path.read_bytes())
    damaged = content.rindex(b"w3") + 1 if place == "value" else size + 16
    content[damaged] ^= 1 if place == "value" else 0xFF
    path.write_bytes(content[:size] if place == "end" else content)
    with pytest.raises(InputError, match=rf"rank-000\.1.*{fault}"):
        stream.publish({})
    assert not finished_path(folder, 0).exists()


def test_a_disk_that_cannot_be_read_is_not_the_end_of_a_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> Iterator[Any]:
        yield batch(1, 2)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = stream_path(tmp_path, 0, 1)
    written(tmp_path, batch(1, 2), batch(3))
    assert streamed_rows(path, [*SCHEMA]).num_rows == 3
    monkeypatch.setattr(streams, "read_stream", lambda _: (SCHEMA, failing()))
    with pytest.raises(IslandsError, match=r"rank-000\.1.*Input/output error"):
        streamed_rows(path, [*SCHEMA])


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


def test_a_stream_of_rows_without_bytes_is_rejected(tmp_path: Path) -> None:
    path = stream_path(tmp_path / "trace", 0, 1)
    path.parent.mkdir()
    column = pa.Array.from_buffers(pa.null(), (1 << 31) - 1, [None])
    rows = pa.RecordBatch.from_arrays([column], ["island"])
    with path.open("wb") as sink, pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_batch(rows)
    with pytest.raises(InputError):
        reading.read_records(tmp_path, "trace")


def test_a_stream_whose_rows_have_more_bytes_than_the_file_is_rejected(tmp_path: Path) -> None:
    path = stream_path(tmp_path / "trace", 0, 1)
    path.parent.mkdir()
    rows = pa.record_batch({"mean": np.zeros(1 << 20)})
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with path.open("wb") as sink, pa.ipc.new_stream(sink, rows.schema, options=options) as stream:
        stream.write_batch(rows)
    with pytest.raises(InputError, match=r"rank-000\.1.* have 8388608 bytes, more than the \d+ of"):
        reading.read_records(tmp_path, "trace")


def epoch(generation: int, seconds: float = 0.5) -> Epoch:
    measures = [IslandMeasure(i, 10 - i, 205, 20.5, 30, generation - i, 7) for i in (4, 5)]
    return Epoch(measures, None, Progress(generation, 14, seconds, 5, 5, 0, 20.5))


def test_one_row_per_island_and_epoch(tmp_path: Path) -> None:
    trace = Trace(tmp_path, 2, 1, FakeProblem())
    trace.add(epoch(0))
    trace.add(epoch(50, seconds=1.25))
    trace.publish({"islands.seed": "9"})
    table = pq.read_table(tmp_path / "trace" / "rank-002.parquet")
    assert table.column("island").to_pylist() == [4, 5, 4, 5]
    (row,) = table.slice(3, 1).to_pylist()
    wanted = {"generation": 50, "seconds": 1.25, "best": 5, "mean": 20.5, "worst": 30}
    wanted |= {"best_generation": 45, "evaluations": 7, "distance": None, "distinct": 1.0}
    assert row == {"island": 5, "colony": 0, **wanted}
    assert table.schema.metadata[b"islands.seed"] == b"9"


def migration(generation: int, number: int | None) -> Epoch:
    came = None if number is None else arrivals(number, [7, 8, 9], [3, 3, 4], [50, 51, 52])
    return Epoch([], came, Progress(generation, 1, 0.5, 5, 5, 0, 20.5))


@pytest.mark.parametrize(("maximise", "sign"), [(False, 1), (True, -1)])
def test_one_row_per_arrival(maximise: bool, sign: int, tmp_path: Path) -> None:
    migrations = Migrations(tmp_path, 1, 1, FakeProblem(maximise=maximise))
    for generation, number in ((0, None), (10, 1), (15, None), (20, 2)):
        migrations.add(migration(generation, number))
    assert migrations.flushed().rows == 6
    migrations.publish({})
    table = pq.read_table(tmp_path / "migrations" / "rank-001.parquet")
    assert table.column("generation").to_pylist() == [10] * 3 + [20] * 3
    (row,) = table.slice(4, 1).to_pylist()
    assert row.items() >= {"epoch": 2, "from": 8, "to": 3, "cost": sign * 51}.items()
    assert row.items() >= {"accepted": False, "bytes": 80, "microseconds": 2.5}.items()
    assert table.column("transport").to_pylist() == ["staged", "device", "staged"] * 2


def rows(generations: range, islands: int = 3) -> pa.Table:
    return pa.table(
        {
            "island": np.tile(np.arange(islands, dtype=np.int32), len(generations)),
            "generation": np.repeat(np.array(generations, np.int64) * 50, islands),
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a finished run of two ranks with 600 rows each."""
    (tmp_path / "trace").mkdir()
    (tmp_path / "solution.parquet").write_bytes(b"")
    for rank in range(2):
        table = rows(range(200))
        write_parquet(tmp_path / "trace" / f"rank-{rank:03}.parquet", [table], table.schema)
    return tmp_path


def test_every_second_fourth_or_further_generation_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_KEPT_ROWS", 400)
    notes: list[str] = []
    table = read_records(folder, "trace", thinned=notes.append)
    kept = [50 * number for number in range(0, 200, 4) for _ in range(3)]
    assert table.column("generation").to_pylist() == kept * 2
    assert table.column("island").to_pylist() == [0, 1, 2] * 100
    assert len(notes) == 1


def test_generations_are_counted_across_pieces() -> None:
    thinning, whole = Thinning(2), rows(range(10))
    pieces = [whole.slice(start, 4) for start in range(0, 30, 4)]
    kept = pa.concat_tables([thinning.keep(piece) for piece in pieces])
    assert kept.column("generation").to_pylist() == [50 * n for n in range(0, 10, 2) for _ in "012"]
