"""docs/figures.md shows tables of the files in docs/measured, and nothing else."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from results_for_tests import run_row
from scripts_for_tests import script

from islands.cli import main

ROOT = Path(__file__).parents[2]


tables = script(ROOT / "docs" / "measurements.py")


def test_a_benchmark_is_shown_as_it_was_printed(tmp_path: Path, capsys: Any) -> None:
    assert main(["bench", "topologies", "--islands", "4", "--genes", "8", "--json"]) == 0
    captured = capsys.readouterr()
    (tmp_path / "topologies.json").write_text(captured.out)
    made = json.loads(captured.out)["provenance"]
    text = tables.shown("topologies", tmp_path)
    assert text.startswith(f"islands {shlex.join(made['command'])}\n")
    assert f"{made['date'][:10]}, commit `{made['commit'][:12]}`" in text
    [header] = [
        line for line in captured.err.splitlines() if line.split()[:2] == ["islands", "ranks"]
    ]
    rows = captured.err.split(header)[1].strip("\n").splitlines()
    assert len(rows) > 3
    assert "\n".join([header, *rows]) in text


@pytest.mark.usefixtures("published")
def test_an_experiment_is_shown_with_its_tables(tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "soca2010"
    line = ["reproduce", "soca2010/quality", "--only", "had12", "--runs", "1", "--backend", "cpu"]
    assert main([*line, "--out", str(folder)]) == 0
    capsys.readouterr()
    text = tables.shown("soca2010", tmp_path)
    made = json.loads((folder / "provenance.json").read_text())
    assert made["devices"][0].startswith("CPU")
    assert made["devices"][0] in text
    [table] = folder.glob("*.txt")
    assert table.read_text().rstrip() in text
    # The page of figures has one of the sentences that follow the rows.
    [row] = tables.papers(tmp_path).splitlines()[2:]
    _, _, told = table.read_text().split("\n\n")
    assert row.removeprefix("| `soca2010/quality` | ").removesuffix(" |") in told.splitlines()


def test_the_time_of_an_experiment_is_shown(tmp_path: Path) -> None:
    (tmp_path / "paper").mkdir()
    made = {"date": "2026-01-02", "commit": None, "changed": None, "devices": [], "command": ["a"]}
    made |= {"islands": "0", "versions": {}, "seconds": 12.3, "driver": "580.1"}
    (tmp_path / "paper" / "provenance.json").write_text(json.dumps(made))
    text = tables.shown("paper", tmp_path)
    assert "driver 580.1" in text
    assert "took 12 s." in text


def test_figures_are_the_means_of_measurements_with_a_prefix(tmp_path: Path) -> None:
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
    assert tables.figures("tsp", tmp_path) == f"{command}```text\nmeans\n```\n"
    assert tables.figures("tabu", tmp_path) == f"{command}```text\nall rows\n```\n"
    assert tables.figures("qap", tmp_path) == "There are no measurements yet.\n"


def by_hand(text: str) -> str:
    """Return the text of a page without what `docs/generate` writes."""
    return re.sub(r"<!-- table: .*?<!-- end -->", "", text, flags=re.DOTALL)


def test_no_table_or_figure_is_written_by_hand() -> None:
    text = by_hand((ROOT / "docs" / "figures.md").read_text(encoding="utf-8"))
    assert re.findall(r"^(?:\||```text).*", text, re.MULTILINE) == []
    assert re.findall(r".*\d ?(?:[mu]?s|%|times|times as \w+)(?!\w).*", text) == []


def test_the_readme_is_short_and_has_no_figures_by_hand() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    section = by_hand(text).partition("## Figures\n")[2].partition("\n## ")[0]
    assert re.findall(r"\d", section) == []


def test_a_table_by_hand_is_detected() -> None:
    text = "a\n<!-- table: b -->\n| c |\n<!-- end -->\n| d |\n"
    assert re.findall(r"^\|.*", by_hand(text), re.MULTILINE) == ["| d |"]


def test_every_measurement_is_listed_and_the_page_is_short() -> None:
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 300
    for path in (ROOT / "docs" / "measured").iterdir():
        if path.suffix in (".json", ""):
            assert f"(measured/{path.name})" in page


def test_a_table_has_at_most_ten_rows() -> None:
    page = (
        (ROOT / "docs" / "figures.md").read_text(encoding="utf-8").partition("## The tests on")[0]
    )
    rows = [
        len(re.findall(r"^\| ", part, re.MULTILINE)) - 2 for part in page.split("<!-- table")[1:]
    ]
    assert len(rows) > 5
    assert max(rows) <= tables.MOST_ROWS


def test_pictures_are_drawn_from_the_measurements(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    subprocess.run([sys.executable, ROOT / "docs" / "plot", tmp_path], check=True, timeout=120)
    drawn = {path.name for path in tmp_path.iterdir()}
    page = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
    assert drawn == set(re.findall(r"\]\(figures/(.*?)\)", page))
    assert drawn == {path.name for path in (ROOT / "docs" / "figures").iterdir()}


def test_the_speed_of_a_gpu_is_divided_by_that_of_a_cpu(tmp_path: Path) -> None:
    for backend, seconds in (("gpu", 2.0), ("cpu", 8.0)):
        runs = [{"instance": "qaplib/tai100a", "evaluations": 4000, "seconds": seconds}]
        found = {"provenance": {"devices": ["CPU, 2 threads"]}, "printed": {}, "runs": runs}
        (tmp_path / f"tempering-{backend}.json").write_text(json.dumps(found))
    [row] = tables.speed(tmp_path).splitlines()[2:]
    assert row == "| `tempering` | `qaplib/tai100a` | evaluations | 2.0k | 500 | 2 threads | 4 |"


def test_an_instance_without_a_hit_is_listed_with_its_gap(tmp_path: Path) -> None:
    runs = [
        asdict(run_row(instance=name, reference=100, cost=cost, backend="cuda", method="default"))
        for name, cost in (("a/hit", 100), ("a/near", 101), ("a/far", 103), ("a/far", 104))
    ]
    found = {"provenance": {"date": "2026-01-02"}, "quality_runs": runs}
    (tmp_path / "a.json").write_text(json.dumps(found))
    rows = [line.split(" | ") for line in tables.missed(tmp_path).splitlines()[2:]]
    assert [(row[0], row[2]) for row in rows] == [
        ("| `a/far`", "3.0000 %"),
        ("| `a/near`", "1.0000 %"),
    ]


def test_the_rows_of_a_single_instance_are_shown(tmp_path: Path) -> None:
    made = {"date": "2026-01-02", "commit": None, "changed": None, "devices": [], "command": ["a"]}
    printed = {"quality": "rows", "quality_ranks": "ranks", "quality_means": "means"}
    found = {"provenance": made, "printed": printed, "quality": [{"instance": "a/b"}] * 2}
    (tmp_path / "tsp-a.json").write_text(json.dumps(found))
    assert tables.figures("tsp", tmp_path).endswith("```text\nrows\n```\n\n```text\nranks\n```\n")


def test_the_last_longest_default_runs_are_counted(tmp_path: Path) -> None:
    assert tables.solved(tmp_path) == "There are no measurements yet.\n"
    for date, cost in (("2026-01-02", 110), ("2026-01-03", 100), ("2026-01-01", 200)):
        runs = [
            asdict(run_row(instance=f"set/{name}", size=size, reference=100, limit=limit))
            | {"backend": "cuda", "method": "default", "cost": worst, "seconds": limit / 2}
            for name, size, limit, worst in (("a", 5, 2.0, cost), (date, 1200, 4.0, 102))
        ]
        found = {"provenance": {"date": date}, "quality_runs": [*runs, {**runs[0], "method": "x"}]}
        (tmp_path / f"{date}.json").write_text(json.dumps(found))
    # Later, but shorter.
    short = [{**runs[0], "limit": 1.0, "cost": 300}]
    (tmp_path / "short.json").write_text(
        json.dumps({"provenance": {"date": "2026-01-04"}, "quality_runs": short})
    )
    row = tables.solved(tmp_path).splitlines()[2]
    assert row.startswith("| `set` | 5 to 1,200 | 4 | 1 | 4 | 1 | 1.5000 % | 2 s | 2 to 4 s | ")


def test_no_measurement_is_said_so(tmp_path: Path) -> None:
    for name in ("solved", "missed", "speed", "papers", "files"):
        assert getattr(tables, name)(tmp_path) == "There are no measurements yet.\n"
