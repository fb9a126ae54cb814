"""docs/measured.md shows each measurement with the command, the commit and the device."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from measured_for_tests import run_row
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


def test_the_time_of_an_experiment_is_shown(generate: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "paper").mkdir()
    made = {"date": "2026-01-02", "commit": None, "changed": None, "devices": [], "command": ["a"]}
    made |= {"islands": "0", "versions": {}, "seconds": 12.3, "driver": "580.1"}
    (tmp_path / "paper" / "provenance.json").write_text(json.dumps(made))
    page = generate.measured(tmp_path)
    assert "driver 580.1" in page
    assert "took 12 s.\n" in page


def by_hand(text: str) -> str:
    """Return the text of a page without what `docs/generate` writes."""
    return re.sub(r"<!-- table: .*?<!-- end -->", "", text, flags=re.DOTALL)


@pytest.mark.parametrize("page", ["figures", "measured"])
def test_no_table_or_figure_is_written_by_hand(page: str) -> None:
    text = by_hand((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    # Those of another program are in a paragraph that names their source.
    text = re.sub(r"^For comparison: BRKGA3.*?\n\n", "", text, flags=re.DOTALL | re.MULTILINE)
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


def test_every_measurement_is_shown(generate: ModuleType) -> None:
    files = {path.stem for path in (ROOT / "docs" / "measured").glob("*.json")}
    listed = script(ROOT / "docs" / "measuring.py").listed()
    shown = [prefix for prefixes in generate.SHOWN.values() for prefix in prefixes]
    papers = {name for name, lines in listed.items() if lines[0].startswith("islands reproduce")}
    hidden = {
        name
        for name in {*files, *listed} - papers
        if not any(name.startswith(f"{prefix}-") for prefix in shown)
    }
    assert hidden == set()


def test_the_rows_of_a_single_instance_are_shown(generate: ModuleType, tmp_path: Path) -> None:
    made = {"date": "2026-01-02", "commit": None, "changed": None, "devices": [], "command": ["a"]}
    printed = {"quality": "rows", "quality_ranks": "ranks", "quality_means": "means"}
    found = {"provenance": made, "printed": printed, "quality": [{"instance": "a/b"}] * 2}
    (tmp_path / "tsp-a.json").write_text(json.dumps(found))
    assert generate.figures("tsp", tmp_path).endswith("```text\nrows\n```\n\n```text\nranks\n```\n")


def test_the_last_longest_default_runs_are_counted(generate: ModuleType, tmp_path: Path) -> None:
    assert generate.solved(tmp_path) == "There are no measurements yet.\n"
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
    row = generate.solved(tmp_path).splitlines()[2]
    assert row.startswith("| `set` | 5 to 1,200 | 4 | 1 | 4 | 1 | 1.5000 % | 2 s | 2 to 4 s | ")


def test_several_gpus_are_compared_with_one(generate: ModuleType, tmp_path: Path) -> None:
    made = {"date": "2026-01-01", "commit": None, "changed": False, "devices": ["GPU"]}
    for name, seconds in (("gpu", 4.0), ("gpus", 2.0)):
        course = ((seconds, 200),)
        runs = [asdict(run_row(seed=seed, course=course, seconds=seconds)) for seed in range(5)]
        found = {"provenance": made | {"command": [name]}, "quality_runs": runs, "printed": {}}
        (tmp_path / f"study-{name}.json").write_text(json.dumps(found))
    one, several = generate.figures("study", tmp_path).split("`islands gpus`")
    assert "islands gpu`" in one
    assert "Before" not in one
    [row] = [line.split() for line in several.splitlines() if line.startswith("fake/five")]
    # Mann and Whitney's test of five against five without ties: 2 of 252 orders.
    assert row[:4] == ["fake/five", "0.0000", "0.0000", "+0.0000"]
    assert row[-5:] == ["2.00", "0.0079*", "1.00", "default,", "cpu"]


def test_no_measurement_is_said_so(generate: ModuleType, tmp_path: Path) -> None:
    assert generate.measured(tmp_path) == "There are no measurements yet.\n"
    assert generate.papers(tmp_path) == "There are no measurements yet.\n"
