from __future__ import annotations

import io
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from islands.archipelago import IslandMeasure
from islands.errors import UnwritableError
from islands.run.epochs import Epoch
from islands.run.trace import Trace


def epoch(generation: int, seconds: float = 0.5) -> Epoch:
    measures = [IslandMeasure(i, 10 - i, 20.5, 30, generation - i, 7) for i in (4, 5)]
    return Epoch(measures, generation, seconds, None)


def test_a_row_an_island_an_epoch(tmp_path: Path) -> None:
    trace = Trace(tmp_path, 2, maximise=False)
    trace.add(epoch(0))
    trace.add(epoch(50, seconds=1.25))
    trace.finish({"islands.seed": "9"})
    path = tmp_path / "trace" / "rank-002.parquet"
    table = pq.read_table(path)
    assert table.column("island").to_pylist() == [4, 5, 4, 5]
    assert table.slice(3, 1).to_pylist() == [
        {
            "island": 5,
            "generation": 50,
            "seconds": 1.25,
            "best": 5,
            "mean": 20.5,
            "worst": 30,
            "best_generation": 45,
            "evaluations": 7,
        }
    ]
    assert table.schema.metadata[b"islands.seed"] == b"9"
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_profits_are_positive(tmp_path: Path) -> None:
    trace = Trace(tmp_path, 0, maximise=True)
    trace.add(Epoch([IslandMeasure(0, -10, -8.5, -2, 0, 7)], 0, 0.0, None))
    trace.finish({})
    row = pq.read_table(tmp_path / "trace" / "rank-000.parquet").to_pylist()[0]
    assert (row["best"], row["mean"], row["worst"]) == (10, 8.5, 2)


def test_a_killed_run_leaves_what_was_written_readable(tmp_path: Path) -> None:
    trace = Trace(tmp_path, 0, maximise=False)
    for number in range(10):
        trace.add(epoch(number, seconds=2.0 * number))
    stream = tmp_path / "trace" / "rank-000.unfinished.arrows"
    assert not (tmp_path / "trace" / "rank-000.parquet").exists()
    killed = tmp_path / "killed"
    killed.write_bytes(stream.read_bytes())
    with killed.open("rb") as source:
        table = pa.ipc.open_stream(source).read_all()
    assert table.column("generation").to_pylist() == [g for g in range(10) for _ in range(2)]


def test_a_stream_cut_in_its_last_batch_keeps_the_others(tmp_path: Path) -> None:
    trace = Trace(tmp_path, 0, maximise=False)
    for number in range(10):
        trace.add(epoch(number, seconds=2.0 * number))
    content = (tmp_path / "trace" / "rank-000.unfinished.arrows").read_bytes()
    reader = pa.ipc.open_stream(pa.py_buffer(content[:-20]))
    # The first two epochs came within a second, and so in one batch; the cut batch is the ninth.
    found = pa.Table.from_batches([reader.read_next_batch() for _ in range(8)])
    assert found.column("generation").to_pylist() == [g for g in range(9) for _ in range(2)]
    with pytest.raises(OSError, match="message body"):
        reader.read_next_batch()


def test_few_writes_for_many_quick_epochs(tmp_path: Path) -> None:
    trace = Trace(tmp_path, 0, maximise=False)
    for number in range(5000):
        trace.add(epoch(number, seconds=0.0))
    trace.finish({})
    file = pq.ParquetFile(tmp_path / "trace" / "rank-000.parquet")
    assert file.metadata.num_rows == 10_000
    assert file.metadata.num_row_groups <= 10


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, _: object) -> int:
            raise OSError(28, "No space left on device")

    message = (
        r"rank-000\.unfinished\.arrows: cannot be written: No space left on device\. Make room"
    )
    monkeypatch.setattr(Path, "open", lambda *_: Full())
    with pytest.raises(UnwritableError, match=message):
        Trace(tmp_path, 0, maximise=False).add(epoch(0, seconds=2.0))


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "trace").touch()
    with pytest.raises(UnwritableError, match=r"rank-000.*: cannot be written: File exists\. Make"):
        Trace(tmp_path, 0, maximise=False)


def test_a_folder_that_is_not_utf8(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    trace = Trace(folder, 0, maximise=False)
    trace.add(epoch(0))
    trace.finish({})
    with (folder / "trace" / "rank-000.parquet").open("rb") as stream:
        assert pq.read_table(stream).num_rows == 2
