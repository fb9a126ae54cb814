"""docs/measured.md shows each measurement with the command, the commit and the device."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scripts_for_tests import script

from islands.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """Return the script docs/generate as a module."""
    return script(ROOT / "docs" / "generate")


def test_a_benchmark_is_shown_as_it_was_printed(
    generate: ModuleType, tmp_path: Path, capsys: Any
) -> None:
    assert main(["bench", "topologies", "--islands", "4", "--genes", "8", "--json"]) == 0
    captured = capsys.readouterr()
    (tmp_path / "topologies.json").write_text(captured.out)
    made = json.loads(captured.out)["provenance"]
    page = generate.measured(tmp_path)
    assert f"{made['date'][:10]}, commit `{made['commit'][:12]}`" in page
    [header] = [
        line for line in captured.err.splitlines() if line.split()[:2] == ["islands", "ranks"]
    ]
    rows = captured.err.split(header)[1].strip("\n").splitlines()
    assert len(rows) > 3
    assert "\n".join([header, *rows]) in page


@pytest.mark.usefixtures("published")
def test_an_experiment_is_shown_with_its_tables(
    generate: ModuleType, tmp_path: Path, capsys: Any
) -> None:
    folder = tmp_path / "soca"
    line = ["reproduce", "soca2010/quality", "--only", "had12", "--runs", "1", "--backend", "cpu"]
    assert main([*line, "--out", str(folder)]) == 0
    capsys.readouterr()
    page = generate.measured(tmp_path)
    made = json.loads((folder / "provenance.json").read_text())
    assert made["devices"][0].startswith("CPU")
    assert made["devices"][0] in page
    [table] = folder.glob("*.txt")
    assert table.read_text().rstrip() in page


def test_no_measurement_is_said_so(generate: ModuleType, tmp_path: Path) -> None:
    assert generate.measured(tmp_path) == "There are no measurements yet.\n"
