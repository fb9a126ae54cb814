"""Measurements are compared with earlier ones, row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from results_for_tests import run_row

from islands.bench import algorithms, gpus_rows, migration, tabu
from islands.bench.compare import SPEEDS, Tables, ratios, read_tables
from islands.bench.quality_tests import changes
from islands.cli import main
from islands.errors import InputError

CPU = "CPU, 1 thread"


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
    assert [first[name] for name in ("row", "before", "now")] == ["GPU a 9", 1000.0, 1500.0]
    assert first["ratio"] == 1.5
    assert (second["ratio"], second["spread"]) == (0.95, 0.1)


def test_less_time_is_faster() -> None:
    before: Tables = {"epoch_ends": [{"instance": "a", "ranks": 2, "end": 4.0}]}
    now: Tables = {"epoch_ends": [{"instance": "a", "ranks": 2, "end": 2.0}]}
    assert [each["ratio"] for each in ratios(before, now)] == [2.0]


def test_each_compared_column_is_in_its_table() -> None:
    benches = ("BRKGA", "DE", "CELLULAR", "GA", "PSO", "EAX")
    tables = [*(getattr(algorithms, name).table for name in benches), tabu.TABLE]
    columns = {each.name: [column.name for column in each.columns] for each in tables}
    for kind in (migration.ScalingRow, migration.EndRow, gpus_rows.GpuSpeedRow):
        columns[kind.table.name] = list(kind.__dataclass_fields__)
    assert columns.keys() == SPEEDS.keys()
    for name, column in SPEEDS.items():
        assert column in columns[name]


def test_runs_are_compared_by_gap_and_time() -> None:
    old = [
        run_row(seed=seed, course=((1.0, 202), (8.0 + seed, 200)), limit=20.0, device="GPU")
        for seed in range(6)
    ]
    new = [
        run_row(seed=seed, course=((0.5, 201), (2.0 + seed / 8, 200)), limit=5.0)
        for seed in range(6)
    ]
    other = [run_row(method="other", seed=seed) for seed in range(6)]
    (found,) = changes(old, [*new, *other])
    # After 5 seconds, the old runs are at 1 %, the new ones at the best known value.
    assert (found.limit, found.gap_before, found.gap_now, found.gap_difference) == (5, 1, 0, -1)
    assert (found.target, found.seconds_before, found.seconds_now) == ("best known", 10.0, 2.25)
    assert found.seconds_ratio == pytest.approx(10 / 2.25)
    assert (found.a, found.devices) == (1.0, ["GPU", CPU])
    assert 0 < found.p < 0.01
    (same,) = changes(new, new)
    assert (same.gap_difference, same.seconds_ratio, same.p, same.a) == (0, 1, 1, 0.5)


def test_without_a_known_value_gaps_are_to_the_best_of_both() -> None:
    unknown = {"reference": 300, "is_known": False}
    old = [run_row(seed=seed, cost=300 + seed, **unknown) for seed in range(3)]
    new = [run_row(seed=seed, cost=250 + 50 * seed, **unknown) for seed in range(3)]
    (found,) = changes(old, new)
    assert (found.gap_before, found.gap_now) == (pytest.approx(20.4), pytest.approx(20))
    (found,) = changes(old, [run_row(cost=None, **unknown)])
    assert (found.gap_now, found.gap_difference, found.a) == (None, None, 0.0)


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"brkga": [3]}', '{"quality_runs": [{}]}', '{"provenance": 3}']
)
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(text)
    with pytest.raises(InputError, match=r"old\.json"):
        read_tables(tmp_path / "old.json")


def test_the_command_prints_ratios(tmp_path: Path, capsys: Any) -> None:
    line = ["bench", "topologies", "--islands", "4", "--genes", "8", "--json", "--quiet"]
    assert main(line) == 0
    old = tmp_path / "old.json"
    old.write_text(capsys.readouterr().out)
    assert main([*line, "--compare", str(old)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["ratios"], found["changes"]) == ([], [])
    assert main([*line, "--compare", str(tmp_path / "none.json")]) == 2
