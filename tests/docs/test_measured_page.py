"""docs/measured.md shows each measurement with the command, the commit and the device."""

from __future__ import annotations

import json
import re
import shlex
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
    # The page of figures has the command, and what follows the rows.
    page = generate.papers(tmp_path)
    assert f"`islands {shlex.join(made['command'])}`\n({made['date'][:10]}, commit" in page
    _, rows, told = table.read_text().split("\n\n")
    assert all(f"\n- {line}\n" in page for line in told.splitlines())
    assert rows.splitlines()[1] not in page


def test_figures_are_the_means_of_measurements_with_a_prefix(
    generate: ModuleType, tmp_path: Path
) -> None:
    made = {"date": "2026-01-02T03:04:05Z", "commit": "0123456789abcdef", "changed": False}
    made |= {"islands": "0", "versions": {}, "devices": ["a GPU"], "command": ["bench", "x y"]}
    made |= {"ranks": 2}
    for name, printed in (
        ("tsp-a", {"quality": "rows", "quality_means": "means"}),
        ("tabu-a", {"tabu": "all rows"}),
    ):
        text = json.dumps({"provenance": made, "printed": printed})
        (tmp_path / f"{name}.json").write_text(text)
    command = "`islands bench 'x y'`\n"
    command += "(2026-01-02, commit `0123456789ab`; a GPU on each of 2 ranks):\n\n"
    assert generate.figures("tsp", tmp_path) == f"{command}```text\nmeans\n```\n"
    assert generate.figures("tabu", tmp_path) == f"{command}```text\nall rows\n```\n"
    assert generate.figures("qap", tmp_path) == "There are no measurements yet.\n"


def test_long_tables_refer_to_the_page_of_measurements(
    generate: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "paper").mkdir()
    made = {"date": "2026-01-02", "commit": None, "changed": None, "devices": [], "command": ["a"]}
    (tmp_path / "paper" / "provenance.json").write_text(json.dumps(made))
    told = "\n".join(f"line {number}" for number in range(15))
    (tmp_path / "paper" / "b.txt").write_text(f"title   how\n\nrows\n\n{told}\n")
    page = generate.papers(tmp_path)
    assert "`b`, title:\n\n- line 0\n" in page
    assert "- line 11\n- and 3 lines more in [measured results](measured.md)\n" in page
    assert "line 12" not in page


def test_every_table_of_figures_has_a_command() -> None:
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    without = [
        part.splitlines()[0]
        for part in re.split(r"^#+ ", page, flags=re.MULTILINE)
        if re.search(r"^(\||```text)", part, re.MULTILINE)
        and not re.search(r"(`|^|-m |\$ )(islands \w+|python docs/|tests/run)", part, re.MULTILINE)
    ]
    assert without == []


def test_no_measurement_is_said_so(generate: ModuleType, tmp_path: Path) -> None:
    assert generate.measured(tmp_path) == "There are no measurements yet.\n"
    assert generate.papers(tmp_path) == "There are no measurements yet.\n"
