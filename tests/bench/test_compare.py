"""Measurements are compared with earlier ones; folders of other work are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from results_for_tests import run_row

from islands.bench.compare import ratios, read_tables
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


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"brkga": [3]}', '{"quality_runs": [{}]}', '{"provenance": 3}']
)
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(text)
    with pytest.raises(InputError, match=r"old\.json"):
        read_tables(tmp_path / "old.json")


QUALITY = ["bench", "quality", "--limit", "0.1", "--seeds", "1", "--backend", "cpu"]
QUALITY += ["--threads", "1", "--quiet"]
OTHERS = (
    [*QUALITY, "--of", "demo/mkp"],
    [*QUALITY, "--of", "demo/qap", "--variant", "algorithm=ga"],
    ["bench", "topologies", "--islands", "8"],
)


@pytest.mark.slow
def test_another_measurement_is_not_overwritten(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = ["--out", str(tmp_path)]
    assert main([*QUALITY, "--of", "demo/qap", *out]) == 0
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    for other in OTHERS:
        assert main([*other, *out]) == 2
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    more = [word if word != "1" else "2" for word in QUALITY]
    assert main([*more, "--of", "demo/qap", *out]) == 0


@pytest.mark.parametrize(
    "file", ["run.toml", "tune.tsv", "a-seed1/run.toml", "topologies.csv", "bench.json"]
)
def test_other_work_is_not_overwritten(file: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    for line in (OTHERS[2], ["reproduce", "jardim2021", "--backend", "cpu"]):
        assert main([*line, "--out", str(tmp_path)]) == 2
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]
