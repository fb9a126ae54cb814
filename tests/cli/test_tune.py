"""`islands tune` on the CPU."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import pytest

pytest.importorskip("scipy")


from tuning import LINE, SMALL, done, rows

from islands.cli import main


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_rows_are_runs_with_their_settings(capsys: pytest.CaptureFixture[str]) -> None:
    tuned = done(capsys, "tune", *LINE, "--out", "a")
    assert [(row["instance"], row["configuration"]) for row in rows("a")] == [
        (name, str(number)) for name in ("demo/tsp", "demo/qap") for number in range(3)
    ]
    values = {each["configuration"]: each["values"] for each in tuned["configurations"]}
    assert values[0] == {}
    for row in rows("a"):
        own = values[int(row["configuration"])]
        assert json.loads(row["values"]) == own
        sets = [f"--set={key}={value}" for key, value in own.items()]
        series = done(capsys, "run", row["instance"], *SMALL, *sets, "--runs", "3")
        assert row["costs"].split() == [str(run["cost"]) for run in series["runs"]]
        assert row["evaluations"].split() == [str(run["evaluations"]) for run in series["runs"]]


def test_best_configuration_is_a_file_that_repeats_its_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tuned = done(capsys, "tune", *LINE, "--out", "a")
    best = tuned["configurations"][0]
    assert (
        Path("a/best.toml")
        .read_text()
        .startswith(
            f"# Configuration {best['configuration']}, the best of 3. Use it with: islands run"
        )
    )
    series = done(
        capsys, "run", "demo/qap", "--config", "a/best.toml", "--seed", "4", "--runs", "3"
    )
    (row,) = (
        row
        for row in rows("a")
        if (row["instance"], row["configuration"]) == ("demo/qap", str(best["configuration"]))
    )
    assert row["costs"].split() == [str(run["cost"]) for run in series["runs"]]
    assert tuned["best"]["migration"] == {"topology": "none"}
    assert tuned["best"]["population"] == 16
    assert not {"instance", "seed", "backend"} & {*tuned["best"]}
    with Path("a/ranking.tsv").open(newline="") as stream:
        ranking = list(csv.DictReader(stream, delimiter="\t"))
    assert [int(row["configuration"]) for row in ranking] == [
        each["configuration"] for each in tuned["configurations"]
    ]


def test_the_printed_ranking_and_what_made_it_are_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", *LINE, "--out", "a"]) == 0
    printed = Path("a/ranking.txt").read_text()
    assert printed.startswith("Rank: mean over ")
    assert printed in capsys.readouterr().out
    made = json.loads(Path("a/provenance.json").read_text())
    assert {"date", "commit", "driver", "metric", "command"} <= {*made}
    elapsed = sum(float(row["elapsed"]) for row in rows("a"))
    assert 0 < elapsed < made["seconds"]
    # A command that finds all rows done does not become what made them.
    assert main(["tune", *LINE, "--out", "a", "--metric", "cost"]) == 0
    again = json.loads(Path("a/provenance.json").read_text())
    assert again == made | {"metric": "cost", "command": again["command"]}
    more = [*LINE[:-3], "3", "--runs", "3", "--out", "a"]
    assert main(["tune", *more]) == 0
    last = json.loads(Path("a/provenance.json").read_text())
    assert last["date"] >= made["date"]
    assert elapsed < sum(float(row["elapsed"]) for row in rows("a")) < last["seconds"]


def test_configuration_without_success_is_last_by_evaluations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = ["demo/tsp", "--algorithm", "brkga", "--improver", "none", "--islands", "1"]
    line += ["--set", "elite=0.25", "--backend", "cpu", "--runs", "3", "--metric", "evaluations"]
    line += ["--stop", "target=35000", "--stop", "generations=300"]
    found = done(capsys, "tune", *line, "--over", "population=8,64", "--grid", "--out", "a")
    order = [each["values"].get("population") for each in found["configurations"]]
    evaluations = {each["values"].get("population"): each for each in found["configurations"]}
    few, enough = evaluations[8], evaluations[64]
    assert few["evaluations"] < enough["evaluations"] == enough["loss"]
    assert (few["void"], enough["void"], few["loss"]) == (3, 0, None)
    assert order[-1] == 8
    assert found["best"]["population"] == 64
    # The same from the written files.
    again = done(capsys, "tune", *line, "--over", "population=8,64", "--grid", "--out", "a")
    assert again["configurations"] == found["configurations"]


def test_best_configuration_keeps_the_preset(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["demo/qap", "--preset", "jardim2021-a", "--population", "16", "--over", "F=0.1,0.5"]
    line += ["--stop", "generations=5", "--grid", "--runs", "2", "--backend", "cpu"]
    tuned = done(capsys, "tune", *line, "--out", "a")
    assert {"preset": "jardim2021-a", "population": 16}.items() <= tuned["best"].items()
    assert [
        each["values"] for each in sorted(tuned["configurations"], key=lambda c: c["configuration"])
    ] == [*({}, {"F": 0.1}, {"F": 0.5})]
    done(capsys, "run", "demo/qap", "--config", "a/best.toml")


def test_runs_with_migration_are_concurrent(capsys: pytest.CaptureFixture[str]) -> None:
    ring = [{"none": "ring"}.get(word, word) for word in SMALL]
    ring += ["--interval", "5", "--runs", "2"]
    line = ["demo/qap", *ring, "--over", "F=0.3,0.7", "--grid", "--out", "a"]
    assert main(["tune", *line]) == 0
    assert "runs of a configuration form a batch" in capsys.readouterr().out
    series = done(capsys, "run", "demo/qap", *ring)
    assert rows("a")[0]["costs"].split() == [str(run["cost"]) for run in series["runs"]]


def test_all_runs_are_sequential_if_some_cannot_be_concurrent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the runs of one configuration would share their seconds")

    monkeypatch.setattr("islands.campaign.tuning.run_concurrently", never)
    common = ["--population", "16", "--islands", "2", "--migration", "none", "--backend", "cpu"]
    common += ["--stop", "generations=5", "--stop", "seconds=60", "--runs", "2"]
    common += ["--algorithm", "cellular", "--improver", "none"]
    line = ["demo/qap", *common, "--over", "halo=false,true", "--grid", "--out", "a"]
    assert main(["tune", *line]) == 0
    assert "Runs are sequential, as runs with a halo" in capsys.readouterr().out
    for row, halo in zip(rows("a"), ("false", "true"), strict=True):
        series = done(capsys, "run", "demo/qap", *common, f"--set=halo={halo}")
        assert row["costs"].split() == [str(run["cost"]) for run in series["runs"]]


def test_concurrent_runs_share_the_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["demo/qap", *SMALL, "--stop", "seconds=0.2", "--over", "F=0.3,0.7", "--grid"]
    began = time.perf_counter()
    assert main(["tune", *line, "--runs", "100", "--out", "a"]) == 0
    # With separate time limits, a hundred runs of three configurations would take a minute.
    assert time.perf_counter() - began < 30
    shared = "The 100 runs of a configuration form a batch, which shares the seconds of --stop"
    assert shared in capsys.readouterr().out
    assert all(float(row["seconds"]) < 0.2 for row in rows("a"))


def test_algorithms_and_presets_can_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["demo/qap", "--population", "16", "--islands", "1", "--stop", "generations=5"]
    line += ["--over", "algorithm=brkga,de", "--grid", "--runs", "2", "--backend", "cpu"]
    done(capsys, "tune", *line, "--out", "a")
    kinds = [json.loads(row["settings"])["algorithm"] for row in rows("a")]
    assert kinds == ["tempering", "brkga", "de"]
