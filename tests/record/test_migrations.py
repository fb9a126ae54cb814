from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from fakes import FakeProblem, arrivals

from islands.progress.progress import Epoch, Progress
from islands.record.records import Migrations


def epoch(generation: int, number: int | None) -> Epoch:
    came = None if number is None else arrivals(number, [7, 8, 9], [3, 3, 4], [50, 51, 52])
    return Epoch([], came, Progress(generation, 1, 0.5, 5, 5, 0, 20.5))


@pytest.mark.parametrize(("maximise", "sign"), [(False, 1), (True, -1)])
def test_one_row_per_arrival(maximise: bool, sign: int, tmp_path: Path) -> None:
    migrations = Migrations(tmp_path, 1, 1, FakeProblem(maximise=maximise))
    migrations.add(epoch(0, None))
    migrations.add(epoch(10, 1))
    migrations.add(epoch(15, None))
    migrations.add(epoch(20, 2))
    assert migrations.kept().rows == 6
    migrations.publish({})
    table = pq.read_table(tmp_path / "migrations" / "rank-001.parquet")
    assert table.column("generation").to_pylist() == [10] * 3 + [20] * 3
    assert table.slice(4, 1).to_pylist() == [
        {
            "epoch": 2,
            "generation": 20,
            "from": 8,
            "to": 3,
            "cost": sign * 51,
            "accepted": False,
            "bytes": 80,
            "microseconds": 2.5,
            "transport": "device",
            "from_colony": 0,
            "to_colony": 0,
        }
    ]
    assert table.column("transport").to_pylist() == ["staged", "device", "staged"] * 2


def test_without_arrivals_there_is_an_empty_table(tmp_path: Path) -> None:
    migrations = Migrations(tmp_path, 0, 1, FakeProblem())
    migrations.add(epoch(10, None))
    migrations.publish({})
    assert pq.read_table(tmp_path / "migrations" / "rank-000.parquet").num_rows == 0
