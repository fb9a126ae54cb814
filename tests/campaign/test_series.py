from __future__ import annotations

import json
from datetime import datetime
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from series_for_tests import COSTS, Named, Seeded, done, entered, planned, pretend, rows

from islands.campaign.series import Series, run_series
from islands.errors import InputError, UsageError
from islands.parallel import World
from islands.record.inputs import read_settings
from islands.run.runner import run_requested
from islands.run.single import Output
from islands.testing.ranks import on_ranks


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(monkeypatch, tmp_path)


def test_all_instances_run_with_one_seed_before_the_next() -> None:
    series = done("fake/a", "fake/b", runs=3)
    turns = [(name, seed) for seed in (1, 2, 3) for name in ("fake/a", "fake/b")]
    assert Seeded.begun == turns
    assert [(each.instance, each.seed) for each in series.results] == turns
    assert entered() == turns
    folders = sorted(path.name for path in Path("out").iterdir() if path.is_dir())
    assert folders == sorted(f"{name[5:]}-seed{seed}" for name, seed in turns)


def test_each_run_equals_the_single_run_with_its_seed() -> None:
    series = done("fake/a", seed=2)
    output = Output(True, Path("alone"))
    options = {"backend": "cpu", "stop": "generations=100", "seed": 3}
    alone = run_requested(options, None, World(), output, Named("fake/a"))
    assert [each.seed for each in series.results] == [2, 3]
    assert series.results[1].digest == alone.digest != series.results[0].digest
    whole, single = read_settings(Path("out/a-seed3")), read_settings(Path("alone"))
    assert whole == single | {"instance": "fake/a"}


def test_a_row_contains_the_result_and_all_settings() -> None:
    before = datetime.now().astimezone().replace(microsecond=0)
    result = done("fake/a", runs=1, rho="0.8").results[0]
    (row,) = rows()
    assert (row["cost"], row["solution"]) == ("103", "3 1 2 3 4")
    assert float(row["gap"]) == pytest.approx(200 / 101)
    assert (int(row["evaluations"]), float(row["seconds"])) == (result.evaluations, result.seconds)
    assert (row["backend"], row["device"]) == ("cpu", result.device)
    assert (row["generations"], row["reason"]) == ("100", "100 generations done")
    assert row["digest"] == result.digest
    assert before <= datetime.fromisoformat(row["started"]) <= datetime.now().astimezone()
    settings = json.loads(row["settings"])
    assert (settings["rho"], settings["stop"]) == (0.8, ["generations=100"])
    assert settings["migration"]["topology"] == "elite"


def test_unknown_values_are_empty_in_a_row() -> None:
    done("fake/b", runs=1)
    assert rows()[0]["gap"] == ""


def test_the_output_contains_each_run_and_the_table() -> None:
    said = StringIO()
    done("fake/a", "fake/b", runs=4, said=said, quiet=False)
    lines = said.getvalue().splitlines()
    assert lines[0] == "run 1 of 8: fake/a, seed 1"
    assert sum(line.startswith("Stopped: 100 generations") for line in lines) == 8
    table = [line.split()[:8] for line in lines if line.startswith("fake/")]
    assert table[-4:-2] == [
        ["fake/a", "4", "|", "101", "0.00%", "|", "102.8", "1.73%"],
        ["fake/b", "4", "|", "101", "-", "|", "102.8", "-"],
    ]
    assert lines[-1] == "Wrote out: runs.tsv, and one folder per run"


def test_quiet_prints_one_line_per_run_and_the_table() -> None:
    said = StringIO()
    done("fake/a", "fake/b", said=said)
    lines = [line for line in said.getvalue().splitlines() if line]
    assert lines[0].startswith("fake/a seed 1: 103, gap 1.98%, 2.0k evaluations, ")
    assert [line.split(":")[0] for line in lines[:4]] == [
        *("fake/a seed 1", "fake/b seed 1", "fake/a seed 2", "fake/b seed 2"),
    ]
    assert len(lines) == 4 + 3 + 3 + 2 + 1


def test_json_contains_all_runs_and_their_summary() -> None:
    whole = json.loads(done("fake/a", runs=4).to_json())
    assert [run["cost"] for run in whole["runs"]] == list(COSTS.values())
    assert whole["runs"][0]["solution"] == [3, 1, 2, 3, 4]
    assert (whole["best"], whole["mean"], whole["hits"]) == (101, 102.75, 2)
    assert whole["standard_deviation"] == pytest.approx(np.std([103, 101, 106, 101], ddof=1))
    assert len(whole["instances"]) == 1
    both = json.loads(done("fake/a", "fake/b", out="both").to_json())
    assert "best" not in both
    assert [each["instance"] for each in both["instances"]] == ["fake/a", "fake/b"]
    assert [each["hits"] for each in both["instances"]] == [1, None]


def test_a_series_without_a_folder_gets_a_new_one() -> None:
    first, second = (done("fake/a", out=None).folder for _ in range(2))
    assert first != second
    assert {first, second} == set(Path("runs").iterdir())
    assert first.name.startswith("several-")


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("out/mine.txt", UsageError, "contains files, but no series"),
        ("out/run.toml", UsageError, "contains a run, no series"),
        ("out/runs.tsv", InputError, r"is not a table of runs with the columns instance, gap"),
        ("out/a-seed2/mine.txt", UsageError, 'a-seed2": contains files, but no run'),
        ("out/a-seed2", UsageError, 'a-seed2": is a file'),
        ("out", UsageError, "out: is a file"),
    ],
)
def test_foreign_files_are_never_changed(
    name: str, error: type[Exception], message: str, force: bool
) -> None:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    with pytest.raises(error, match=message):
        done("fake/a", force=force)
    assert path.read_text() == "mine"
    assert Seeded.begun == []


def test_invalid_series_are_refused() -> None:
    with pytest.raises(UsageError, match="fake/a is named twice"):
        planned("fake/a", "fake/b", "fake/a")
    with pytest.raises(UsageError, match="fake/a and other/a would both have the folder a-seed1"):
        planned("fake/a", "other/a")
    with pytest.raises(UsageError, match="--start with several instances"):
        planned("fake/a", "fake/b", start="a.tour")
    with pytest.raises(UsageError, match="seed=9223372036854775807: the last of 2 runs would"):
        planned("fake/a", seed=2**63 - 1)
    assert planned("fake/a", start="a.tour").runs == 2


def test_a_series_that_cannot_begin_leaves_no_files() -> None:
    with pytest.raises(InputError, match=r"none\.tour"):
        done("fake/a", out=None, start="none.tour")
    assert list(Path("runs").iterdir()) == []


def test_ranks_with_different_runs_are_refused() -> None:
    def one(world: World) -> Series:
        return run_series(planned("fake/a", runs=2 + world.rank), world, Output(True, Path("out")))

    words = (
        r"^the ranks would make different series of runs: rank 1 of 2 differs from rank 0 in the"
    )
    words += r" number of runs \(3 instead of 2\) \[rank 0: host "
    with pytest.raises(UsageError, match=words):
        on_ranks(2, one)

    def elsewhere(world: World) -> Series:
        return run_series(planned("fake/a"), world, Output(True, Path(f"out{world.rank}")))

    with pytest.raises(UsageError, match=r"rank 0 in out \(out1 instead of out0\) \["):
        on_ranks(2, elsewhere)
    assert Seeded.begun == []
