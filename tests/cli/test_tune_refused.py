"""Configurations and options that `islands tune` refuses or omits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")

from problems_for_tests import cities
from tuning import LINE, SMALL, done, rows

from islands.campaign.tuning import TaskResult, run_task
from islands.cli import main
from islands.configuration.spec import RunSpec
from islands.errors import UsageError


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _refusing(*values: object) -> Callable[..., TaskResult]:
    """Return a function like `run_task` that refuses configurations with the given values of F."""

    def run(spec: RunSpec, *others: Any, **options: Any) -> TaskResult:
        if not values or spec.to_mapping()["F"] in values:
            raise UsageError("the GPU's 1 GiB are too little")
        return run_task(spec, *others, **options)

    return run


def test_configuration_refused_at_its_run_is_omitted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["demo/tsp", "demo/qap", *SMALL, "--over", "F=0.3,0.4,0.9", "--grid", "--runs", "3"]
    without = ["demo/tsp", "demo/qap", *SMALL, "--over", "F=0.3,0.9", "--grid", "--runs", "3"]
    wanted = done(capsys, "tune", *without, "--out", "b")
    with monkeypatch.context() as refusing:
        refusing.setattr("islands.campaign.tuning.run_task", _refusing(0.4))
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
    # Omitted configurations are tried again when the tuning is resumed.
    assert done(capsys, "tune", *line, "--out", "a")["left_out"] == []
    assert len(rows("a")) == 8


def test_tuning_ends_if_all_configurations_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("islands.campaign.tuning.run_task", _refusing())
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 2
    assert "on demo/tsp: the GPU's 1 GiB are too little" in capsys.readouterr().err
    assert not Path("a").exists()
    monkeypatch.setattr("islands.campaign.tuning.run_task", _refusing(0.3))
    line = ["demo/tsp", *SMALL, "--over", "F=0.3", "--grid", "--runs", "1", "--out", "b"]
    assert main(["tune", *line]) == 0
    assert "Only configuration 0 is left." in capsys.readouterr().out


def test_impossible_configurations_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["demo/mkp", "--preset", "munhao2019-m1", "--stop", "generations=2", "--runs", "2"]
    ways = [*line, "--over", "infeasible=repair,drop,linear,dynamic", "--grid"]
    found = done(capsys, "tune", *ways, "--out", "a")
    # The base has the preset's setting.
    tried = [each["values"].get("infeasible") for each in found["configurations"]]
    assert sorted(map(str, tried)) == ["None", "drop", "dynamic", "repair"]
    assert (found["refused"], found["last_refusal"]) == (0, None)
    rings = [*line, "--over", "neighbourhood=ring", "--over", "neighbours=2,3,600", "--grid"]
    found = done(capsys, "tune", *rings, "--out", "b")
    assert (found["refused"], len(found["configurations"])) == (2, 2)
    assert found["last_refusal"].startswith("population=512: a ring with neighbours=600")
    assert main(["tune", *rings, "--out", "b", "--quiet"]) == 0
    last = "2 others are invalid; the last one: population=512: a ring with neighbours=600"
    assert last in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--set", "infeasible=dynamic", "--stop", "generations=2"],
            "a/tune.tsv: no run of any configuration found a feasible solution. Choose infeasible=",
        ),
        (
            ["--metric", "evaluations", "--stop", "target=999999999", "--stop", "generations=2"],
            "a/tune.tsv: no run of any configuration reached the target of --stop. Let runs",
        ),
    ],
)
def test_no_configuration_is_best_without_a_valid_run(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # No subset of about half of the items fits, and infeasible subsets are not repaired.
    n, m = 60, 3
    rows_of_ones = "\n".join([f"{n} {m} 0", *[" ".join(["1"] * n)] * (1 + m), "2 2 2"])
    Path("tight.dat").write_text(rows_of_ones)
    line = ["tight.dat", "--algorithm", "pso", "--population", "8", "--islands", "1", *options]
    line += ["--over", "c1=0,1", "--grid", "--runs", "2", "--backend", "cpu", "--out", "a"]
    # The ranking of a previous command is removed.
    better = {"infeasible=dynamic": "infeasible=repair", "evaluations": "gap"}
    assert main(["tune", *(better.get(word, word) for word in line), "--quiet"]) == 0
    assert Path("a/best.toml").exists()
    assert main(["tune", *line, "--quiet"]) == 1
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in Path("a").iterdir()) == [
        ".tune.tsv.lock",
        "runs.jsonl",
        "tune.tsv",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("demo/tsp", "no settings to tune. Name some with --over KEY=A..B: children, selection"),
        ("demo/tsp --over c9=1..2", "--over c9=1..2: unknown setting to tune 'c9'."),
        ("demo/tsp --over rho=0.9..0.5", "--over rho=0.9..0.5: the range is empty."),
        ("demo/tsp --over rho=0.1..0.9", "--over rho=0.1..0.9: rho=0.1: must be from 0.5 to 1"),
        ("demo/tsp --over rho=0.5..1 --grid 1001", "--grid 1001: 1001 points: must be at most"),
        ("demo/tsp --over rho=0.5..1 --over rho=1", "--over rho is given twice. Give each"),
        ("demo/tsp --over rho=0.5..1 --grid 0", "--grid 0: must be at least 1"),
        ("demo/tsp --over rho=0.5..1 --configurations 0", "--configurations 0: must be at least"),
        ("demo/tsp --over rho=0.5..1 --configurations 2 --grid", "--grid with --configurations:"),
        ("demo/tsp --over rho=0.5..1 --metric time", "--metric time: must be gap or cost or"),
        (
            "demo/tsp --over rho=0.5..1 --metric evaluations --stop seconds=9",
            "--metric evaluations:",
        ),
        (
            "demo/tsp --algorithm brkga --over rho=0.5..1 --set elite=2",
            "elite=2: must be from 0 to 1",
        ),
        (
            "demo/tsp --over rho=0.5..1 --set rho=0.7",
            "rho is given twice: rho=0.7 and --over rho=0.5..1. Leave one of them out, or set",
        ),
        (
            "demo/tsp --over migrants=1..9 --set migration.migrants=2",
            "migration.migrants is given twice: migration.migrants=2 and --over migrants=1..9.",
        ),
        (
            "demo/tsp --over rho=0.5..1 --runs 0",
            "argument --runs: '0' must be a whole number of at least 1. Leave it out for 5. ",
        ),
        ("demo/tsp --over algorithm=de,dee", "--over algorithm=de,dee: unknown algorithm 'dee'."),
        ("demo/tsp demo/tsp --over rho=0.5..1", "demo/tsp is named twice. Name each instance once"),
        ("nosuch --over rho=0.5..1", "unknown instance 'nosuch'"),
        ("demo/tsp --over rho=0.5..1 --out mine.tsp", "--out mine.tsp: is a file. Name a new or"),
        ("demo/tsp --over rho=0.5..1 --out .", "--out .: contains files, but no tuning. Name a"),
        (
            "demo/tsp --algorithm brkga --over elite=0.95 --grid",
            "--over: no configuration except the base is valid. elite=",
        ),
    ],
)
def test_refused_tuning_prints_one_line_and_leaves_no_folder(
    line: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cities(9, tmp_path)
    Path("random9-EUC_2D.tsp").rename("mine.tsp")
    is_chosen = "rho=" in line and "--algorithm" not in line
    own = ["--algorithm", "brkga"] if is_chosen else []
    assert main(["tune", *line.split(), *own, "--improver", "none", "--backend", "cpu"]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"islands: {message}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert [path.name for path in Path().iterdir()] == ["mine.tsp"]


def test_missing_package_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("islands.cli.tune.find_spec", lambda name: None)
    assert main(["tune", *LINE]) == 2
    wanted = "islands: tune needs scipy. Install it with: pip install 'islands[report]'\n"
    assert capsys.readouterr().err == wanted


def test_damaged_table_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 0
    whole = Path("a/tune.tsv").read_text()
    first = rows("a")[0]["costs"]
    for text, message in (
        (whole.replace("costs", "cost", 1), "a/tune.tsv: is not a table of a tuning"),
        (whole.replace(first, "1 x 3", 1), "a/tune.tsv: line 2: checksum mismatch: "),
        (f"{whole}demo/tsp\t0\n", "a/tune.tsv: line 8: checksum mismatch: "),
        (whole.replace(first, "1 2", 1), "a/tune.tsv: line 2: checksum mismatch: "),
    ):
        Path("a/tune.tsv").write_text(text)
        capsys.readouterr()
        assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 2
        assert capsys.readouterr().err.startswith(f"islands: {message}")
