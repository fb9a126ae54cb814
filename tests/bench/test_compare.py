"""Measurements are compared with earlier ones, row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from islands.bench import algorithm_rows, ends, quality_rows, scaling, tabu
from islands.bench.compare import SPEEDS, Tables, ratios, read_tables
from islands.cli import main
from islands.errors import InputError


def row(**changes: Any) -> dict[str, Any]:
    values = {"device": "CPU", "instance": "a", "size": 9, "generations": 5, "spread": 0.1}
    return {**values, "keys_per_second": 100.0, "cost": 77, **changes}


def test_rows_are_matched_by_what_was_measured() -> None:
    before = {"brkga": [row(), row(device="GPU", keys_per_second=1000.0), row(instance="b")]}
    now = {
        "brkga": [
            row(device="GPU", keys_per_second=1500.0, generations=7, cost=70),
            row(keys_per_second=95.0, spread=0.02),
            row(instance="c"),
            row(size=10),
        ]
    }
    first, second = ratios(before, now)
    assert (first.row, first.before, first.now, first.ratio) == ("GPU a 9", 1000.0, 1500.0, 1.5)
    assert (second.ratio, second.spread) == (0.95, 0.1)
    assert first.line().endswith("faster")
    assert second.line().endswith("within the spread")


def test_less_time_is_faster() -> None:
    before: Tables = {"epoch_ends": [{"instance": "a", "ranks": 2, "end": 4.0}]}
    now: Tables = {"epoch_ends": [{"instance": "a", "ranks": 2, "end": 2.0}]}
    assert [each.ratio for each in ratios(before, now)] == [2.0]


def test_each_compared_column_is_in_its_table() -> None:
    kinds = [algorithm_rows.BrkgaRow, algorithm_rows.DeRow, algorithm_rows.CellularRow]
    kinds += [algorithm_rows.GaRow, algorithm_rows.PsoRow, tabu.TabuRow, scaling.ScalingRow]
    kinds += [ends.EndRow, quality_rows.QualityRow]  # type: ignore[list-item]
    assert {kind.TABLE for kind in kinds} == set(SPEEDS)
    for kind in kinds:
        assert SPEEDS[kind.TABLE] in kind.__dataclass_fields__


@pytest.mark.parametrize("text", ["", "[1]", '{"brkga": 3}', '{"brkga": [3]}'])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(text)
    with pytest.raises(InputError, match=r"old\.json: is not the output of islands bench --json"):
        read_tables(tmp_path / "old.json")


def test_the_command_prints_ratios(tmp_path: Path, capsys: Any) -> None:
    line = ["bench", "topologies", "--islands", "4", "--genes", "8", "--json", "--quiet"]
    assert main(line) == 0
    old = tmp_path / "old.json"
    old.write_text(capsys.readouterr().out)
    assert main([*line, "--compare", str(old)]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["ratios"] == []
    assert f"Compared with {old}; a ratio above 1 is faster." in captured.err
    assert "No row is in both measurements." in captured.err
    assert main([*line, "--compare", str(tmp_path / "none.json")]) == 2
    assert "none.json: No such file" in capsys.readouterr().err
