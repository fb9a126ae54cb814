"""`islands tune` on the CPU: its rows, its best configuration, and those that are rejected."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands_for_tests import Capture, Patch, done, rows_of, write_tours
from standing_ranks import StandingRanks

from islands.cli import main
from islands.configuration.resolved import Resolved
from islands.engine.repeats import Place, Repeats
from islands.errors import UsageError

pytest.importorskip("scipy")

request = Repeats.request
SMALL = ["--algorithm", "de", "--population", "16", "--islands", "2", "--migration", "none"]
SMALL += ["--backend", "cpu", "--stop", "generations=20", "--seed", "4"]
OVER = ["--over", "F=0.2..1", "--over", "Cr=0..1", "--configurations", "2", "--runs", "3"]
LINE = ["demo/tsp", "demo/qap", *SMALL, *OVER]


def rows(folder: str) -> list[dict[str, str]]:
    return rows_of(f"{folder}/tune.tsv")


@pytest.mark.slow
def test_rows_are_runs_with_their_settings(capsys: Capture) -> None:
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


@pytest.mark.slow
def test_best_configuration_is_a_file_that_repeats_its_runs(capsys: Capture) -> None:
    tuned = done(capsys, "tune", *LINE, "--out", "a")
    best = tuned["configurations"][0]
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
    assert [int(row["configuration"]) for row in rows_of("a/ranking.tsv")] == [
        configuration["configuration"] for configuration in tuned["configurations"]
    ]


def _rejecting(*values: object) -> Callable[..., Resolved]:
    """Return `Repeats.request`, which rejects configurations with the given values of F."""

    def rejecting(plan: Repeats, cell: Place) -> Resolved:
        found = request(plan, cell)
        if not values or found.spec.to_mapping()["F"] in values:
            raise UsageError("the GPU's memory of 1 GiB is too small")
        return found

    return rejecting


@pytest.mark.slow
def test_configuration_rejected_at_its_run_is_omitted(capsys: Capture, monkeypatch: Patch) -> None:
    line = ["demo/tsp", "demo/qap", *SMALL, "--over", "F=0.3,0.4,0.9", "--grid", "--runs", "3"]
    without = ["demo/tsp", "demo/qap", *SMALL, "--over", "F=0.3,0.9", "--grid", "--runs", "3"]
    wanted = done(capsys, "tune", *without, "--out", "b")
    with monkeypatch.context() as rejecting:
        rejecting.setattr(Repeats, "request", _rejecting(0.4))
        tuned = done(capsys, "tune", *line, "--out", "a")
    reason = "configuration 2 (F=0.4) on demo/tsp: the GPU's memory of 1 GiB is too small"
    assert tuned["left_out"] == [{"configuration": 2, "reason": reason}]
    assert wanted["left_out"] == []
    ranks = [(each["values"], each["mean_rank"], each["p"]) for each in tuned["configurations"]]
    assert ranks == [
        (each["values"], each["mean_rank"], each["p"]) for each in wanted["configurations"]
    ]
    assert len(rows("a")) == 6
    # Omitted configurations are tried again when the tuning is resumed.
    assert done(capsys, "tune", *line, "--out", "a")["left_out"] == []
    assert len(rows("a")) == 8


def test_tuning_ends_if_all_configurations_are_rejected(
    capsys: Capture, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(Repeats, "request", _rejecting())
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 2
    assert "on demo/tsp: the GPU's memory of 1 GiB is too small" in capsys.readouterr().err
    assert not Path("a").exists()
    monkeypatch.setattr(Repeats, "request", _rejecting(0.3))
    line = ["demo/tsp", *SMALL, "--over", "F=0.3", "--grid", "--runs", "1", "--out", "b"]
    assert main(["tune", *line]) == 0
    assert "Only configuration 0 is left." in capsys.readouterr().out


def test_table_is_made_from_the_ledger(capsys: Capture) -> None:
    line = ["tune", *LINE, "--out", "a", "--quiet"]
    assert main(line) == 0
    whole = Path("a/tune.tsv").read_text()
    for text in ("", whole.replace("costs", "cost", 1), f"{whole}demo/tsp\t0\n"):
        Path("a/tune.tsv").write_text(text)
        assert main(line) == 0
        assert Path("a/tune.tsv").read_text() == whole
    Path("a/runs.jsonl").unlink()
    capsys.readouterr()
    assert main(line) == 2
    assert capsys.readouterr().err.startswith("islands: a/tune.tsv: the folder has no runs.jsonl")
    assert Path("a/tune.tsv").read_text() == whole


def test_extended_tuning_reuses_finished_runs(capsys: Capture) -> None:
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


TUNE = ["-m", "islands", "tune"]
TIMES = ("seconds", "elapsed", "device")
"""Columns that depend on the machine."""


def without_times(folder: str) -> list[dict[str, str]]:
    every = [{k: v for k, v in row.items() if k not in (*TIMES, "sha256")} for row in rows(folder)]
    return sorted(every, key=lambda row: (row["instance"], row["configuration"]))


def ranked(tuned: dict[str, Any]) -> list[dict[str, Any]]:
    return [{k: v for k, v in each.items() if k != "seconds"} for each in tuned["configurations"]]


def requests(folder: str) -> list[str]:
    lines = Path(folder, "runs.jsonl").read_text().splitlines()
    return sorted(json.dumps(json.loads(line)["asked"]) for line in lines)


def test_a_changed_instance_is_run_again(capsys: Capture) -> None:
    path = write_tours(1)[0]
    line = ["tune", path, *SMALL, "--over", "F=0.4,0.8", "--runs", "1"]
    assert main([*line, "--out", "a"]) == 0
    write_tours(1, cities=10)
    capsys.readouterr()
    again, new = (done(capsys, *line, "--out", folder) for folder in ("a", "b"))
    costs = [row["costs"] for row in rows("b")]
    assert [row["costs"] for row in rows("a")][-len(costs) :] == costs
    assert again["instances"] == new["instances"]


def test_a_cost_in_python_that_has_changed_is_run_again(capsys: Capture) -> None:
    """The identity of a run contains the texts of headers, but no code in Python."""
    script = Path("mine.py")
    line = ["tune", "mine.py:eight", *SMALL, "--over", "F=0.4,0.8", "--runs", "1", "--out", "a"]
    for factor, stored in ((1, 0), (2, 0), (2, 3)):
        script.write_text(
            "import islands\n"
            f"eight = islands.keys(8, function=lambda x: {factor} * float(x.sum()))\n"
        )
        assert main(line) == 0
        assert capsys.readouterr().out.count("done before") == stored


@pytest.mark.slow
def test_ranks_share_the_configurations(standing_ranks: StandingRanks, capsys: Capture) -> None:
    found = standing_ranks.run(3, *TUNE, *LINE, "--out", "many")
    assert found.returncode == 0, found.stderr
    one = done(capsys, "tune", *LINE, "--out", "one")
    assert without_times("many") == without_times("one")
    assert requests("many") == requests("one")
    assert Path("many/best.toml").read_bytes() == Path("one/best.toml").read_bytes()
    # One rank, and other numbers of ranks, find all of them made.
    before = Path("many/runs.jsonl").read_bytes()
    again = done(capsys, "tune", *LINE, "--out", "many")
    assert ranked(again) == ranked(one)
    assert (again["best"], again["blocks"]) == (one["best"], one["blocks"])
    assert Path("many/runs.jsonl").read_bytes() == before
