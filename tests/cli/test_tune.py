"""`islands tune` from end to end, on the CPU."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")

from problems_for_tests import cities

from islands.cli import main
from islands.errors import UsageError
from islands.run.spec import RunSpec
from islands.tune.cell import Cell, run_cell
from islands.tune.ledger import Ledger

SMALL = ["--algorithm", "de", "--population", "16", "--islands", "2", "--migration", "none"]
SMALL += ["--backend", "cpu", "--stop", "generations=20", "--seed", "4"]
OVER = ["--over", "F=0.2..1", "--over", "Cr=0..1", "--configurations", "2", "--runs", "3"]
LINE = ["demo/tsp", "demo/qap", *SMALL, *OVER]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def done(capsys: pytest.CaptureFixture[str], command: str, *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([command, *line, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def rows(folder: str) -> list[dict[str, str]]:
    with Path(folder, "tune.tsv").open(newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def test_rows_are_the_runs_that_the_settings_say(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_the_best_is_a_file_of_settings_that_repeats_its_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tuned = done(capsys, "tune", *LINE, "--out", "a")
    best = tuned["configurations"][0]
    assert (
        Path("a/best.toml")
        .read_text()
        .startswith(
            f"# Configuration {best['configuration']}, the best of 3: islands run INSTANCE --config"
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


def test_a_preset_stays_a_name_in_the_best(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["demo/qap", "--preset", "jardim2021-a", "--population", "16", "--over", "F=0.1,0.5"]
    line += ["--stop", "generations=5", "--grid", "--runs", "2", "--backend", "cpu"]
    tuned = done(capsys, "tune", *line, "--out", "a")
    assert {"preset": "jardim2021-a", "population": 16}.items() <= tuned["best"].items()
    assert [
        each["values"] for each in sorted(tuned["configurations"], key=lambda c: c["configuration"])
    ] == [*({}, {"F": 0.1}, {"F": 0.5})]
    done(capsys, "run", "demo/qap", "--config", "a/best.toml")


def test_more_of_a_tuning_takes_over_what_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    first = done(capsys, "tune", *LINE, "--out", "a")
    before = Path("a/tune.tsv").read_bytes()
    assert done(capsys, "tune", *LINE, "--out", "a") == first
    assert Path("a/tune.tsv").read_bytes() == before
    more = [*LINE[:-3], "3", "--runs", "3", "--out", "a"]
    assert main(["tune", *more]) == 0
    out = capsys.readouterr().out
    assert out.count("done before") == 6
    assert Path("a/tune.tsv").read_bytes().startswith(before)
    assert len(rows("a")) == 8
    assert main(["tune", *LINE, "--out", "a", "--force", "--quiet"]) == 0
    assert len(rows("a")) == 6
    assert "done before" not in capsys.readouterr().out


def test_islands_that_migrate_go_on_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    ring = ["--migration", "ring", "--interval", "5", "--runs", "2"]
    line = ["demo/qap", *SMALL, "--over", "F=0.3,0.7", "--grid", "--out", "a", *ring]
    assert main(["tune", *line]) == 0
    assert "Runs go on side by side" in capsys.readouterr().out
    series = done(capsys, "run", "demo/qap", *SMALL, *ring)
    assert rows("a")[0]["costs"].split() == [str(run["cost"]) for run in series["runs"]]


def test_where_some_runs_cannot_go_side_by_side_all_go_one_after_the_other(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the runs of one configuration would share their seconds")

    monkeypatch.setattr("islands.tune.cell.run_beside", never)
    common = ["--population", "16", "--islands", "2", "--migration", "none", "--backend", "cpu"]
    common += ["--stop", "generations=5", "--stop", "seconds=60", "--runs", "2"]
    line = ["demo/qap", *common, "--over", "halo=false,true", "--grid", "--out", "a"]
    assert main(["tune", *line]) == 0
    assert "Runs go one after the other, as those with a halo" in capsys.readouterr().out
    for row, halo in zip(rows("a"), ("false", "true"), strict=True):
        series = done(capsys, "run", "demo/qap", *common, f"--set=halo={halo}")
        assert row["costs"].split() == [str(run["cost"]) for run in series["runs"]]


def test_runs_side_by_side_share_the_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["demo/qap", *SMALL, "--stop", "seconds=0.2", "--over", "F=0.3,0.7", "--grid"]
    began = time.perf_counter()
    assert main(["tune", *line, "--runs", "100", "--out", "a"]) == 0
    # A hundred runs of three configurations that had them each would take a minute.
    assert time.perf_counter() - began < 30
    shared = "Runs go on side by side: the 100 of a configuration share the seconds of --stop"
    assert shared in capsys.readouterr().out
    assert all(float(row["seconds"]) < 0.2 for row in rows("a"))


def _refusing(*values: object) -> Callable[..., Cell]:
    """Return what runs a cell, but refuses configurations with such values of F."""

    def run(spec: RunSpec, *others: Any, **conduct: Any) -> Cell:
        if not values or spec.to_mapping()["F"] in values:
            raise UsageError("the GPU's 1 GiB are too little")
        return run_cell(spec, *others, **conduct)

    return run


def test_what_is_refused_only_when_it_is_to_be_run_is_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["demo/tsp", "demo/qap", *SMALL, "--over", "F=0.3,0.4,0.9", "--grid", "--runs", "3"]
    without = ["demo/tsp", "demo/qap", *SMALL, "--over", "F=0.3,0.9", "--grid", "--runs", "3"]
    wanted = done(capsys, "tune", *without, "--out", "b")
    with monkeypatch.context() as refusing:
        refusing.setattr("islands.tune.perform.run_cell", _refusing(0.4))
        tuned = done(capsys, "tune", *line, "--out", "a")
        assert main(["tune", *line, "--out", "a", "--quiet"]) == 0
    reason = "configuration 2 (F=0.4) on demo/tsp: the GPU's 1 GiB are too little"
    assert tuned["left_out"] == [{"configuration": 2, "reason": reason}]
    assert wanted["left_out"] == []
    ranks = [(each["values"], each["mean_rank"], each["p"]) for each in tuned["configurations"]]
    assert ranks == [
        (each["values"], each["mean_rank"], each["p"]) for each in wanted["configurations"]
    ]
    assert len(rows("a")) == 6
    assert f"\nLeft out: {reason}\n" in capsys.readouterr().out
    # What is left out is tried again where the tuning goes on.
    assert done(capsys, "tune", *line, "--out", "a")["left_out"] == []
    assert len(rows("a")) == 8


def test_where_all_are_refused_the_tuning_ends(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("islands.tune.perform.run_cell", _refusing())
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 2
    assert "on demo/tsp: the GPU's 1 GiB are too little" in capsys.readouterr().err
    assert not Path("a/tune.tsv").exists()
    monkeypatch.setattr("islands.tune.perform.run_cell", _refusing(0.3))
    line = ["demo/tsp", *SMALL, "--over", "F=0.3", "--grid", "--runs", "1", "--out", "b"]
    assert main(["tune", *line]) == 0
    assert "Only configuration 0 is left." in capsys.readouterr().out


def test_configurations_that_cannot_be_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["demo/mkp", "--preset", "munhao2019-m1", "--stop", "generations=2", "--runs", "2"]
    ways = [*line, "--over", "infeasible=repair,drop,linear,dynamic", "--grid"]
    found = done(capsys, "tune", *ways, "--out", "a")
    # The preset's own way is the base.
    tried = [each["values"].get("infeasible") for each in found["configurations"]]
    assert sorted(map(str, tried)) == ["None", "drop", "dynamic", "repair"]
    assert (found["refused"], found["last_refusal"]) == (0, None)
    rings = [*line, "--over", "neighbourhood=ring", "--over", "neighbours=2,3,600", "--grid"]
    found = done(capsys, "tune", *rings, "--out", "b")
    assert (found["refused"], len(found["configurations"])) == (2, 2)
    assert found["last_refusal"].startswith("population=512: a ring with neighbours=600")
    assert main(["tune", *rings, "--out", "b", "--quiet"]) == 0
    last = "2 more cannot be, the last because: population=512: a ring with neighbours=600"
    assert last in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--set", "infeasible=dynamic", "--stop", "generations=2"],
            "a/tune.tsv: no run of any configuration met a feasible solution. Choose infeasible=",
        ),
        (
            ["--metric", "evaluations", "--stop", "target=999999999", "--stop", "generations=2"],
            "a/tune.tsv: no run of any configuration has reached what --stop names. Let them",
        ),
    ],
)
def test_without_a_run_that_counts_none_is_the_best(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # No choice of about half of the items fits, and none is looked for.
    n, m = 60, 3
    rows_of_ones = "\n".join([f"{n} {m} 0", *[" ".join(["1"] * n)] * (1 + m), "2 2 2"])
    Path("tight.dat").write_text(rows_of_ones)
    line = ["tight.dat", "--algorithm", "pso", "--population", "8", "--islands", "1", *options]
    line += ["--over", "c1=0,1", "--grid", "--runs", "2", "--backend", "cpu", "--out", "a"]
    # What an earlier command has ranked is not what this one came to.
    better = ["--set", "infeasible=repair", "--metric", "gap"]
    assert main(["tune", *line, *better, "--quiet"]) == 0
    assert Path("a/best.toml").exists()
    assert main(["tune", *line, "--quiet"]) == 1
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in Path("a").iterdir()) == ["tune.tsv"]


def test_algorithms_and_presets_can_be_compared(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["demo/qap", "--population", "16", "--islands", "1", "--stop", "generations=5"]
    line += ["--over", "algorithm=brkga,de", "--grid", "--runs", "2", "--backend", "cpu"]
    done(capsys, "tune", *line, "--out", "a")
    kinds = [json.loads(row["settings"])["algorithm"] for row in rows("a")]
    assert kinds == ["cellular", "brkga", "de"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("demo/tsp", "nothing to tune. Name settings with --over KEY=A..B: elite, mutants, rho"),
        ("demo/tsp --over c9=1..2", "--over c9=1..2: unknown setting to tune 'c9'."),
        ("demo/tsp --over rho=0.9..0.5", "--over rho=0.9..0.5: an empty range."),
        ("demo/tsp --over rho=0.1..0.9", "--over rho=0.1..0.9: rho=0.1: must be from 0.5 to 1"),
        ("demo/tsp --over rho=0.5..1 --grid 1001", "--grid 1001: 1001 points: must be at most"),
        ("demo/tsp --over rho=0.5..1 --over rho=1", "--over rho is there twice. Name each"),
        ("demo/tsp --over rho=0.5..1 --grid 0", "--grid 0: must be at least 1"),
        ("demo/tsp --over rho=0.5..1 --configurations 0", "--configurations 0: must be at least"),
        ("demo/tsp --over rho=0.5..1 --configurations 2 --grid", "--grid with --configurations:"),
        ("demo/tsp --over rho=0.5..1 --metric time", "--metric time: must be gap or cost or"),
        (
            "demo/tsp --over rho=0.5..1 --metric evaluations --stop seconds=9",
            "--metric evaluations:",
        ),
        ("demo/tsp --over rho=0.5..1 --set rho=2", "rho=2: must be from 0.5 to 1"),
        (
            "demo/tsp --over rho=0.5..1 --runs 0",
            "argument --runs: '0' must be a whole number of at least 1. Leave it out for 5. ",
        ),
        ("demo/tsp --over algorithm=de,dee", "--over algorithm=de,dee: unknown algorithm 'dee'."),
        ("demo/tsp demo/tsp --over rho=0.5..1", "demo/tsp is named twice. Name each instance once"),
        ("nosuch --over rho=0.5..1", "unknown instance 'nosuch'"),
        ("demo/tsp --over rho=0.5..1 --out mine.tsp", "--out mine.tsp: is a file. Name a folder"),
        ("demo/tsp --over rho=0.5..1 --out .", "--out .: holds files, but no tuning. Name a"),
        (
            "demo/tsp --over elite=0.95 --grid",
            "--over: no configuration but the base can be. elite=",
        ),
    ],
)
def test_what_cannot_be_is_one_line_and_leaves_nothing(
    line: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cities(9, tmp_path)
    Path("random9-EUC_2D.tsp").rename("mine.tsp")
    assert main(["tune", *line.split(), "--improver", "none", "--backend", "cpu"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert [path.name for path in Path().iterdir()] == ["mine.tsp"]


def test_several_ranks_and_a_missing_package_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("islands.cli.tune.find_spec", lambda name: None)
    assert main(["tune", *LINE]) == 2
    wanted = "islands: tune needs scipy. Install with: pip install 'islands[report]'\n"
    assert capsys.readouterr().err == wanted
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    assert main(["tune", *LINE]) == 2
    assert "tune on 2 ranks: it takes one. Start it without mpirun" in capsys.readouterr().err


def test_a_spoilt_table_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 0
    whole = Path("a/tune.tsv").read_text()
    first = rows("a")[0]["costs"]
    for text, message in (
        (whole.replace("costs", "cost", 1), "a/tune.tsv: is no table of a tuning"),
        (whole.replace(first, "1 x 3", 1), "a/tune.tsv: a row of demo/tsp is spoilt. Remove that"),
        (f"{whole}demo/tsp\t0\n", "a/tune.tsv: has a row of other columns. Remove that row"),
        (whole.replace(first, "1 2", 1), "a/tune.tsv: a row of demo/tsp is spoilt. Remove that"),
    ):
        Path("a/tune.tsv").write_text(text)
        capsys.readouterr()
        assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 2
        assert capsys.readouterr().err.startswith(f"islands: {message}")


def test_a_row_counts_from_when_it_is_written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    enter = Ledger.enter

    def interrupted(ledger: Ledger, *arguments: Any) -> None:
        enter(ledger, *arguments)
        if len(rows("a")) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "enter", interrupted)
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 130
    assert "Ended after 2 of 6 rows" in capsys.readouterr().out


def test_a_tuning_that_begins_anew_counts_no_rows_of_the_one_before(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done(capsys, "tune", *LINE, "--out", "a")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "enter", interrupted)
    assert main(["tune", *LINE, "--out", "a", "--force", "--quiet"]) == 130
    assert "Ended after" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75), (signal.SIGKILL, -9)]
)
def test_a_tuning_that_is_ended_goes_on_to_the_same_end(
    number: signal.Signals, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = [*LINE, "--population", "64", "--stop", "generations=500", "--threads", "1"]
    command = [sys.executable, "-m", "islands", "tune", *slow, "--out", "a", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        for _ in range(1200):
            if Path("a/tune.tsv").exists():
                break
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    ended = len(rows("a"))
    assert 1 <= ended < 6
    if status > 0:
        assert f"Ended after {ended} of 6 rows".encode() in out
        assert b"Go on with the same command and --out a\n" in out
    assert not Path("a/best.toml").exists()
    again = done(capsys, "tune", *slow, "--out", "a")
    whole = done(capsys, "tune", *slow, "--out", "b")
    assert [row["costs"] for row in rows("a")] == [row["costs"] for row in rows("b")]
    assert again["best"] == whole["best"]
