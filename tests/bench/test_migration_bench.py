"""The benchmark of migration, as it is typed."""

from __future__ import annotations

import json

import pytest

from islands.cli import main


def test_one_rank_has_rates_of_islands(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--instances", "demo/tsp", "--population", "32", "--islands-a-rank", "2"]
    line = ["bench", "migration", *small, "--interval", "3", "--seconds", "0.01", "--json"]
    assert main([*line, "--backend", "cpu", "--threads", "1", "--quiet"]) == 0
    tables = json.loads(capsys.readouterr().out)
    rows = [row for table in tables.values() if isinstance(table, list) for row in table]
    assert {row["ranks"] for row in rows if "ranks" in row} == {1}
    assert all(row["generations"] % 3 == 0 for row in rows if "generations" in row)
