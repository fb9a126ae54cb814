from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from islands.bench.topologies import TopologyRow
from islands.cli import bench, main
from islands.migration import TOPOLOGIES


def rows_of(capsys: pytest.CaptureFixture[str], *options: str) -> dict[tuple[int, str], Any]:
    assert main(["bench", "topologies", "--json", *options]) == 0
    rows = json.loads(capsys.readouterr().out)["topologies"]
    return {(row["islands"], row["topology"]): row for row in rows}


def test_bytes_count_migrants_between_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--islands", "8,64", "--genes", "100", "--migrants", "3", "--islands-a-rank", "4")
    rows = rows_of(capsys, *options)
    migrant = 16 + 4 * 100
    ring = rows[64, "ring"]
    assert (ring["ranks"], ring["arriving"]) == (16, 3)
    assert ring["busiest_bytes"] == ring["mean_bytes"] == 3 * migrant
    assert ring["takeover_bytes"] == 63 * 3 * migrant
    assert rows[8, "elite"]["busiest_bytes"] == 4 * 3 * migrant
    assert {name for _, name in rows} == {*TOPOLOGIES} - {"none"}


def test_one_fitting_topology_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of(capsys, "--islands", "8,128")
    # 127 x 2 migrants are more than the 231 of 256 that are not elite; 127 x 1 are not.
    assert not rows[128, "elite"]["fits"]
    assert rows_of(capsys, "--islands", "128", "--migrants", "1")[128, "elite"]["fits"]
    # 7 x 33 migrants are just as many.
    for migrants, fits in (("33", True), ("34", False)):
        assert rows_of(capsys, "--islands", "8", "--migrants", migrants)[8, "elite"]["fits"] == fits
    chosen = {islands: name for (islands, name), row in rows.items() if row["chosen"]}
    assert chosen == {8: "elite", 128: "hypercube"}
    none = rows_of(capsys, "--islands", "8", "--migrants", "300").values()
    assert not any(row["fits"] or row["chosen"] for row in none)


def test_out_contains_the_table_and_a_plot(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    folder = tmp_path / "new"
    line = ["bench", "topologies", "--islands", "8,64", "--out", str(folder)]
    assert main(line) == 0
    shown = capsys.readouterr().out
    assert TopologyRow.HEADER in shown
    assert f"Wrote {folder}" in shown
    with (folder / "topologies.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["islands"], row["topology"]) for row in rows] == [
        (islands, name) for islands in ("8", "64") for name in TOPOLOGIES if name != "none"
    ]
    assert (folder / "topologies.png").read_bytes().startswith(b"\x89PNG")


def test_rows_are_aligned_with_their_header(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "topologies", "--islands", "8,4096"]) == 0
    lines = capsys.readouterr().out.splitlines()
    first = lines.index(TopologyRow.HEADER)
    rows = lines[first : first + 1 + 2 * (len(TOPOLOGIES) - 1)]
    assert {len(line) for line in rows} == {len(TopologyRow.HEADER)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--islands", "8,x"],
            "argument --islands: '8,x' must be whole numbers from 1 to 1048576, separated",
        ),
        (["--islands", "0"], "argument --islands: '0' must be whole numbers from 1"),
        (["--islands-a-rank", "0"], "--islands-a-rank 0: must be at least 1"),
        (["--out", __file__], f"--out {__file__}: is a file. Name a new or existing folder"),
    ],
)
def test_invalid_options_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "topologies", *options]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_plot_library_is_reported_before_the_simulation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "find_spec", lambda name: None)
    assert main(["bench", "topologies", "--out", str(tmp_path / "new")]) == 2
    assert "needs matplotlib. Install it with: pip install" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
