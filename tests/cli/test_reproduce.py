from __future__ import annotations

import csv
import json
import re
import tomllib
from dataclasses import replace
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from instance_texts import tsplib_text

from islands import solve
from islands.cli import main
from islands.cli import reproduce as command
from islands.instances.synthetic import uniform_tsp
from islands.problems import load
from islands.reproduce import PAPERS, jardim2021, soca2010, xavier2019
from islands.reproduce.jardim2021 import (
    IMPLEMENTATIONS,
    ImplementationFigures,
    ImplementationsTable,
)
from islands.reproduce.soca2010 import QualityFigures
from islands.reproduce.table import ALL_CORES
from islands.reproduce.xavier2019 import InstanceFigures, NationalTimesTable, ValuesTable

pytest.importorskip("scipy")
PRINTED = InstanceFigures(9000.0, 8800.5, 14.0, 36.0, 19.0, 20.0)
PLOTS = ("png", "svg")
QUICK = ["--backend", "cpu", "--generations", "4"]


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the embedded instance as the paper's, and two small ones as VLSI instances."""
    monkeypatch.setattr(xavier2019, "printed", lambda: {"demo/tsp": PRINTED})
    for table in (ValuesTable, NationalTimesTable):
        monkeypatch.setattr(table, "names", staticmethod(lambda: ["demo/tsp"]))
    for n in (40, 50):
        path = tmp_path / "instances" / "vlsi" / f"own{n}.tsp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tsplib_text(uniform_tsp(n, seed=1)), encoding="utf-8")
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path / "instances"))


def reproduced(line: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["reproduce", *line, "--json", *QUICK]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_values_equal_runs_of_solve(capsys: pytest.CaptureFixture[str]) -> None:
    done = reproduced(["xavier2019/values", "--only", "tsp", "--runs", "2"], capsys)
    problem = load("demo/tsp")
    costs = [
        solve(problem, preset="xavier2019", stop="generations=4", backend="cpu", seed=seed).cost
        for seed in (1, 2)
    ]
    assert costs[0] != costs[1]
    (row,) = done["tables"]["values"]["rows"]
    assert (row["mean"], row["best"], row["runs"]) == (sum(costs) / 2, min(costs), 2)
    assert row["cuda_value"] == 9000.0
    assert done["seeds"] == {"values": [1, 2]}
    assert done["tables"]["values"]["facts"]["mean_value"] == row["mean"]


def test_all_tables_write_their_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    line = ["reproduce", "xavier2019", "--only", "tsp", "own40", "--out", str(out), *QUICK]
    line += ["--threads", "1"]
    assert main(line) == 0
    shown = capsys.readouterr().out
    assert "4 generations, on CPU" in shown
    assert "the paper's runs have 1000" in shown
    assert sorted(path.name for path in out.iterdir()) == [
        *("provenance.json", "report.html", "runs.jsonl", "settings.toml"),
        *("times.csv", "times.png", "times.svg", "times.txt", "values.csv", "values.txt"),
        *("vlsi.csv", "vlsi.png", "vlsi.svg", "vlsi.txt"),
    ]
    (row,) = read(out / "times.csv")
    assert (row["generations"], row["cpu_1_generations"]) == ("4", "4")
    assert float(row["speedup_paper"]) == pytest.approx(14.0 / float(row["seconds"]))
    assert f"~{float(row['seconds']):.3f}" in shown
    (row,) = read(out / "vlsi.csv")
    assert (row["instance"], row["cities"]) == ("vlsi/own40", "40")
    assert 0 < float(row["ratio"]) < 1
    settings = tomllib.loads((out / "settings.toml").read_text(encoding="utf-8"))
    assert settings["instances"]["vlsi"] == ["vlsi/own40"]
    assert settings["generations"] == {"values": 4, "times": 4, "vlsi": 4}
    assert settings["preset"]["vlsi"] == "xavier2019"
    for changed, names in (
        ([*line, "--runs", "2"], "seeds"),
        ([word.replace("4", "5") if word == "4" else word for word in line], "generations"),
        ([*line[:-1], "none"], "threads"),
        ([word for word in line if word != "own40"], "preset, generations, seeds, instances"),
        (["reproduce", "xavier2019/values", *line[2:4], *line[5:]], "what, preset, generations,"),
    ):
        assert main(changed) == 2
        refusal = f"--out {out}: contains an experiment with other settings: {names}"
        assert refusal in capsys.readouterr().err


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def test_instances_larger_than_the_papers_are_omitted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("islands.reproduce.xavier2019.PAPER_LARGEST", 45)
    assert main(["reproduce", "xavier2019/vlsi", *QUICK, "--threads", "none"]) == 0
    shown = capsys.readouterr().out
    assert "vlsi/own50: skipped" in shown
    assert "\nvlsi/own40 " in shown
    assert "1 instance; the paper has 81" in shown
    assert "missing: vlsi/xqf131, " in shown
    assert "CPU 1" not in shown


def test_requested_threads_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    done = reproduced(["xavier2019/times", "--runs", "2", "--threads", "2"], capsys)
    (row,) = done["tables"]["times"]["rows"]
    assert row["cpu_2_seconds"] > 0
    assert "cpu_1_seconds" not in row
    assert done["cpu_threads"] == [2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("xavier2018", "unknown paper 'xavier2018'. Did you mean 'xavier2019'?"),
        ("xavier2019/value", "unknown table of xavier2019 'value'. Did you mean 'values'?"),
        ("xavier2019/values --only zi929", "--only: unknown instance 'zi929'. Known: tsp"),
        ("jardim2021/local", "unknown table of jardim2021 'local'. Known: "),
        ("soca2010/quality --only tsp", "--only: unknown instance 'tsp'. Known: "),
        ("xavier2019 --runs 0", "--runs 0: must be at least 1"),
        ("xavier2019 --generations -1", "--generations -1: must be at least 1"),
        ("xavier2019 --threads 1,x", "--threads 1,x: must be none, or whole numbers of at least 1"),
        ("xavier2019 --threads 0", "--threads 0: must be none, or whole numbers"),
        ("xavier2019 --backend gpu", "unknown backend 'gpu'"),
        ("xavier2019 --backend CPU --runs 0", "--runs 0: must be at least 1"),
        ("xavier2019 --out pyproject.toml", "--out pyproject.toml: is a file"),
    ],
)
def test_invalid_usage_prints_one_line_before_any_run(
    line: str, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    assert main(["reproduce", *line.split()]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_missing_packages_are_reported_with_a_hint(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert main(["reproduce", "xavier2019", "--out", "new"]) == 2
    assert capsys.readouterr().err == (
        "islands: reproduce needs scipy and matplotlib. Install them with: pip install"
        " 'islands[report]'\n"
    )


def test_default_threads_are_limited_by_cores() -> None:
    assert command._threads(None, 6, (1, 4, 8)) == (1, 4)
    assert command._threads(None, 6, (1, ALL_CORES)) == (1, 6)
    assert command._threads(None, 1, (1, ALL_CORES)) == (1,)
    assert command._threads("8,2,8", 1, (1,)) == (8, 2)
    assert command._threads("1,all", 6, ()) == (1, 6)
    assert command._threads("none", 6, (1,)) == ()
    assert command._words(None, (1, 4, ALL_CORES)) == "1,4,all"
    assert command._words("8,2", (1,)) == "8,2"


@pytest.fixture
def assignments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the embedded assignment as the papers' instance."""
    thesis = dict.fromkeys(IMPLEMENTATIONS, ImplementationFigures(12.0, 3.0, 500.0))
    monkeypatch.setattr(jardim2021, "implementations", lambda: {"demo/qap": thesis})
    monkeypatch.setattr(ImplementationsTable, "names", staticmethod(lambda: ["demo/qap"]))
    monkeypatch.setattr(soca2010, "quality", lambda: {"demo/qap": QualityFigures(3, 0.5)})
    monkeypatch.setattr(soca2010, "performance", dict)


def costs(preset: str, **options: Any) -> list[int]:
    asked = {"preset": preset, "stop": "generations=4", "backend": "cpu"} | options
    return [solve(load("demo/qap"), seed=seed, **asked).cost for seed in (1, 2)]


@pytest.mark.usefixtures("assignments")
def test_concurrent_runs_equal_runs_of_solve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    line = ["jardim2021/implementations", "--runs", "2", "--threads", "1", "--out", str(out)]
    done = reproduced(line, capsys)
    (row,) = done["tables"]["implementations"]["rows"]
    gaps = [100 * (cost / 4664 - 1) for cost in costs("jardim2021-a")]
    assert row["gap"] == pytest.approx(sum(gaps) / 2)
    assert row["deviation"] == pytest.approx(abs(gaps[0] - gaps[1]) / 2**0.5)
    assert (row["evaluations"], row["generations"], row["runs"]) == (5 * 1024, 4, 2)
    assert row["cpu_1_generations"] == 4
    assert sorted(path.name for path in out.iterdir()) == [
        *(f"implementations{each}.{form}" for each in ("-gap", "-rate") for form in PLOTS),
        *(f"implementations.{form}" for form in ("csv", "png", "svg", "txt")),
        *("provenance.json", "report.html", "runs.jsonl", "settings.toml"),
    ]


@pytest.mark.usefixtures("assignments")
def test_elitist_replacement_is_compared_with_the_papers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    done = reproduced(["soca2010/quality", "--runs", "2"], capsys)
    (row,) = done["tables"]["quality"]["rows"]
    for prefix, options in (("", {}), ("elitist_", {"replacement": "elitist"})):
        ended = costs("soca2010", **options)
        assert row[f"{prefix}hits"] == 0
        assert row[f"{prefix}best_gap"] == pytest.approx(100 * (min(ended) / 4664 - 1))
        assert row[f"{prefix}mean_gap"] == pytest.approx(100 * (sum(ended) / 2 / 4664 - 1))
    assert done["tables"]["quality"]["facts"]["reached_with_either"] == 0


@pytest.mark.parametrize("number", ["table1", "Table1"])
def test_a_table_has_its_number_in_the_paper_as_a_name(
    number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = reproduced([f"xavier2019/{number}", "--only", "tsp", "--runs", "1"], capsys)
    assert list(done["tables"]) == ["values"]


def test_every_table_names_its_interpretations(capsys: pytest.CaptureFixture[str]) -> None:
    for name in PAPERS.values():
        for table in import_module(name).PAPER.tables.values():
            assert table.interpretations, table.name
    line = ["reproduce", "xavier2019/values", "--only", "tsp", "--runs", "1", *QUICK]
    assert main(line) == 0
    told = capsys.readouterr().out.splitlines()
    assert [each for each in told if each.startswith("our interpretation: ")] == [
        f"our interpretation: {each}" for each in ValuesTable.interpretations
    ]


def test_every_printed_number_names_a_table() -> None:
    for module in PAPERS.values():
        paper = import_module(module).PAPER
        assert set(paper.printed.values()) <= set(paper.tables)
        for number, name in paper.printed.items():
            title = paper.tables[name].title.replace("table III", "table 3")
            title = title.replace("table II", "table 2")
            assert re.search(rf"\b{number.removeprefix('table')}\b", title), (name, number)


def test_all_papers_write_a_folder_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "instances" / "qaplib" / "nug18.dat"
    path.parent.mkdir()
    path.write_text("18\n" + 2 * 18 * (" ".join(map(str, range(18))) + "\n"), encoding="utf-8")
    line = ["all", "--only", "own40", "nug18", "--runs", "1", "--threads", "none"]
    out = tmp_path / "papers"
    done = reproduced([*line, "--out", str(out)], capsys)["papers"]
    names = {name: list(each["tables"]) for name, each in done.items()}
    assert names["xavier2019"] == ["vlsi"]
    assert "jardim2021" in names
    for name in names:
        assert (out / name / "settings.toml").is_file()
        kept = tomllib.loads((out / name / "settings.toml").read_text(encoding="utf-8"))
        assert kept["what"] == name
    again = reproduced([*line, "--out", str(out)], capsys)["papers"]
    assert again == done


def test_all_refuses_an_instance_of_no_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "all", "--only", "qqq", *QUICK]) == 2
    assert "'qqq'" in capsys.readouterr().err


def test_all_papers_are_made_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    only = replace(xavier2019.PAPER, kinds=(ValuesTable,), printed={})
    monkeypatch.setattr(xavier2019, "PAPER", only)
    monkeypatch.setattr(command, "PAPERS", {"xavier2019": "islands.reproduce.xavier2019"})
    out = tmp_path / "papers"
    line = ["reproduce", "all", *QUICK, "--runs", "2", "--threads", "none", "--out", str(out)]
    assert main(line) == 0
    text = (out / "xavier2019" / "values.txt").read_text()
    rows = (out / "xavier2019" / "values.csv").read_text().splitlines()
    assert len(rows) == 2
    assert "demo/tsp" in text
    for line in text.rpartition("\n\n")[2].splitlines():
        assert f"<p>{escape(line)}</p>" in (out / "report.html").read_text()
    assert (out / "xavier2019" / "report.html").read_text().count("<h2>values</h2>") == 1
