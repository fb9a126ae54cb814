"""Long records: a page is of a part of their generations, which is read in pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from islands.errors import InputError
from islands.record import tables as reading
from islands.record.parquet import write_parquet
from islands.record.tables import Thinning, read_records


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
    assert notes == [f"{folder / 'trace'} has 1200 rows: one of 4 generations is read"]


def test_all_rows_of_a_short_record_are_read_without_a_note(folder: Path) -> None:
    notes: list[str] = []
    table = read_records(folder, "trace", thinned=notes.append)
    assert table is not None
    assert (len(table), notes) == (1200, [])


def test_a_command_that_needs_all_rows_refuses_a_long_record(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MOST_ROWS", 1199)
    message = r"trace: has 1200 rows, more than 1199, .*\. Read its files with another program"
    with pytest.raises(InputError, match=message):
        read_records(folder, "trace")


def test_generations_are_counted_across_pieces() -> None:
    thinning, whole = Thinning(2), rows(range(10))
    pieces = [whole.slice(start, 4) for start in range(0, 30, 4)]
    kept = pa.concat_tables([thinning.keep(piece) for piece in pieces])
    assert kept.column("generation").to_pylist() == [50 * n for n in range(0, 10, 2) for _ in "012"]
