import tomllib
from pathlib import Path
from typing import Any

import pytest
from commands_for_tests import Capture, Patch, done, rows_of
from instance_texts import tsplib_text
from synthetic import uniform_tsp

from islands import solve
from islands.cli import main
from islands.problems import load
from islands.studies.papers import experiment
from islands.studies.papers.jardim2021 import IMPLEMENTATIONS, ImplementationsTable
from islands.studies.papers.soca2010 import PerformanceTable, QualityTable
from islands.studies.papers.xavier2019 import NationalTimesTable, ValuesTable

pytest.importorskip("scipy")
PRINTED = {"cuda_value": 9000.0, "api_value": 8800.5, "cuda_seconds": 14.0}
PRINTED |= {f"api_{threads}_seconds": 35.0 - threads for threads in (1, 4, 8)}
PLOTS = ("png", "svg")
QUICK = ["--backend", "cpu", "--generations", "4"]


@pytest.fixture(autouse=True)
def stand_in(tmp_path: Path, monkeypatch: Patch) -> None:
    """Use the embedded instance as the paper's, and two small ones as VLSI instances."""
    for table in (ValuesTable, NationalTimesTable):
        monkeypatch.setattr(table, "printed", staticmethod(lambda: {"demo/tsp": PRINTED}))
    for n in (40, 50):
        path = tmp_path / "instances" / "vlsi" / f"own{n}.tsp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(tsplib_text(uniform_tsp(n, seed=1)), encoding="utf-8")
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path / "instances"))


def reproduced(line: list[str], capsys: Capture) -> dict[str, Any]:
    return done(capsys, "reproduce", *line, *QUICK)


def test_values_equal_runs_of_solve(capsys: Capture) -> None:
    shown = reproduced(["xavier2019/values", "--only", "tsp", "--runs", "2"], capsys)
    problem = load("demo/tsp")
    costs = [
        solve(problem, preset="xavier2019", stop="generations=4", backend="cpu", seed=seed).cost
        for seed in (1, 2)
    ]
    assert costs[0] != costs[1]
    (row,) = shown["tables"]["values"]["rows"]
    assert (row["mean"], row["best"], row["runs"]) == (sum(costs) / 2, min(costs), 2)
    assert row["cuda_value"] == 9000.0
    assert shown["seeds"] == {"values": [1, 2]}
    assert shown["tables"]["values"]["facts"]["mean_value"] == row["mean"]


def test_an_interrupted_experiment_without_a_folder_goes_on(
    capsys: Capture, monkeypatch: Patch
) -> None:
    performed, run = [], experiment.run_requested

    def interrupted(*given: Any) -> Any:
        performed.append(given)
        if len(performed) == 2:
            raise KeyboardInterrupt
        return run(*given)

    line = ["xavier2019/values", "--only", "tsp", "--runs", "2"]
    monkeypatch.setattr(experiment, "run_requested", interrupted)
    assert main(["reproduce", *line, *QUICK]) == 130
    assert len([*Path("runs").glob("unfinished-xavier2019-*")]) == 1
    found = reproduced(line, capsys)["tables"]["values"]["rows"]
    assert len(performed) == 3
    assert not Path("runs").exists()
    again = reproduced(line, capsys)["tables"]["values"]["rows"]
    assert len(performed) == 5
    assert [{**row, "seconds": 0} for row in found] == [{**row, "seconds": 0} for row in again]


@pytest.mark.slow
def test_all_tables_write_their_files(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    line = ["reproduce", "xavier2019", "--only", "tsp", "own40", "--out", str(out), *QUICK]
    line += ["--threads", "1"]
    assert main(line) == 0
    assert {path.name for path in out.iterdir()} == {
        *(".runs.lock", "provenance.json", "report.html", "runs.jsonl", "settings.toml"),
        *("values.csv", "values.txt"),
        *(f"{each}.{form}" for each in ("times", "vlsi") for form in ("csv", "txt", *PLOTS)),
    }
    (row,) = rows_of(out / "times.csv")
    assert (row["generations"], row["cpu_1_generations"]) == ("4", "4")
    assert float(row["speedup_paper"]) == pytest.approx(14.0 / float(row["seconds"]))
    (row,) = rows_of(out / "vlsi.csv")
    assert (row["instance"], row["cities"]) == ("vlsi/own40", "40")
    assert 0 < float(row["ratio"]) < 1
    settings = tomllib.loads((out / "settings.toml").read_text(encoding="utf-8"))
    assert settings["instances"]["vlsi"] == ["vlsi/own40"]
    assert settings["generations"] == {"values": 4, "times": 4, "vlsi": 4}
    assert settings["preset"]["vlsi"] == "xavier2019"
    for changed in (
        [*line, "--runs", "2"],
        [word.replace("4", "5") if word == "4" else word for word in line],
        [*line[:-1], "none"],
        [word for word in line if word != "own40"],
        ["reproduce", "xavier2019/values", *line[2:4], *line[5:]],
    ):
        assert main(changed) == 2, changed


@pytest.fixture
def assignments(monkeypatch: Patch) -> None:
    """Use the embedded assignment as the papers' instance."""
    thesis = {each: {"gap": 12.0, "seconds": 3.0, "rate": 500.0} for each in IMPLEMENTATIONS}
    quality = {"hits": 3, "gap": 0.5}
    for table, row in ((ImplementationsTable, thesis), (QualityTable, quality)):
        monkeypatch.setattr(table, "printed", staticmethod(lambda row=row: {"demo/qap": row}))
    monkeypatch.setattr(PerformanceTable, "printed", dict)


def costs(preset: str, **options: Any) -> list[int]:
    asked = {"preset": preset, "stop": "generations=4", "backend": "cpu"} | options
    return [solve(load("demo/qap"), seed=seed, **asked).cost for seed in (1, 2)]


@pytest.mark.usefixtures("assignments")
def test_concurrent_runs_equal_runs_of_solve(capsys: Capture) -> None:
    shown = reproduced(["jardim2021/implementations", "--runs", "2", "--threads", "1"], capsys)
    (row,) = shown["tables"]["implementations"]["rows"]
    gaps = [100 * (cost / 4664 - 1) for cost in costs("jardim2021-a")]
    assert row["gap"] == pytest.approx(sum(gaps) / 2)
    assert row["deviation"] == pytest.approx(abs(gaps[0] - gaps[1]) / 2**0.5)
    assert (row["evaluations"], row["generations"], row["runs"]) == (5 * 1024, 4, 2)
    assert row["cpu_1_generations"] == 4
