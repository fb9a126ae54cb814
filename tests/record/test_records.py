"""The rows of a trace, and of the migrants that arrived."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fakes import FakeProblem, arrivals

from islands.archipelago.measure import IslandMeasure
from islands.errors import InputError
from islands.progress.progress import Epoch, Progress
from islands.record import tables as reading
from islands.record.parquet import write_parquet
from islands.record.records import Migrations, Trace
from islands.record.tables import Thinning, read_records


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
    assert migrations.kept().rows == 6
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
    assert table is not None
    kept = [50 * number for number in range(0, 200, 4) for _ in range(3)]
    assert table.column("generation").to_pylist() == kept * 2
    assert table.column("island").to_pylist() == [0, 1, 2] * 100
    assert len(notes) == 1


def test_a_command_that_needs_all_rows_refuses_a_long_record(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_ROWS", 1199)
    with pytest.raises(InputError, match="1200 rows"):
        read_records(folder, "trace")


def test_generations_are_counted_across_pieces() -> None:
    thinning, whole = Thinning(2), rows(range(10))
    pieces = [whole.slice(start, 4) for start in range(0, 30, 4)]
    kept = pa.concat_tables([thinning.keep(piece) for piece in pieces])
    assert kept.column("generation").to_pylist() == [50 * n for n in range(0, 10, 2) for _ in "012"]
