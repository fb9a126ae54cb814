"""Tunings that are interrupted or extended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")


from tuning import LINE, done, rows

from islands.campaign.ledger import Ledger
from islands.campaign.tuning import COLUMNS
from islands.cli import main
from islands.record import lock
from islands.record.files import write_table
from islands.slurm.follow import state_of

_SLOWER = {"16": "64", "generations=20": "generations=150"}
SLOW = [*(_SLOWER.get(word, word) for word in LINE), "--threads", "1"]
"""A tuning that lasts long enough to be interrupted."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tuning without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    assert main(["tune", *SLOW, "--out", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_extended_tuning_reuses_finished_runs(capsys: pytest.CaptureFixture[str]) -> None:
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


def test_a_tuning_of_an_earlier_version_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    first = done(capsys, "tune", *LINE, "--out", "a")
    path = Path("a/tune.tsv")
    earlier = [name for name in COLUMNS if name != "elapsed"]
    write_table(path, earlier, [{name: row[name] for name in earlier} for row in rows("a")])
    Path("a/runs.jsonl").unlink()
    assert done(capsys, "tune", *LINE, "--out", "a") == first
    more = [*LINE[:-3], "3", "--runs", "3", "--out", "a"]
    assert main(["tune", *more]) == 0
    assert capsys.readouterr().out.count("done before") == 6
    assert [row["elapsed"] == "0" for row in rows("a")] == [True] * 6 + [False] * 2


def test_written_row_is_complete(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    enter = Ledger.add

    def interrupted(ledger: Ledger, *arguments: Any) -> None:
        enter(ledger, *arguments)
        if len(rows("a")) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "add", interrupted)
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 130
    assert "Ended after 2 of 6 rows" in capsys.readouterr().out


def test_new_tuning_ignores_rows_of_the_previous_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    done(capsys, "tune", *LINE, "--out", "a")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "add", interrupted)
    assert main(["tune", *LINE, "--out", "a", "--force", "--quiet"]) == 130
    assert "Ended after" not in capsys.readouterr().out


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_second_tuning_in_the_same_folder_is_refused(
    force: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "_PATIENCE_SECONDS", 0.0)
    other = [*("5" if word == "4" else word for word in LINE), "--out", "a", *force]
    enter, statuses, said = Ledger.add, [], []

    def add_and_tune(ledger: Ledger, *arguments: Any) -> None:
        enter(ledger, *arguments)
        if not statuses:
            statuses.append(0)
            capsys.readouterr()
            statuses[0] = main(["tune", *other])
            said.append(capsys.readouterr())

    monkeypatch.setattr(Ledger, "add", add_and_tune)
    assert main(["tune", *LINE, "--out", "a", "--quiet"]) == 0
    assert statuses == [2]
    words = "a: another process is using this tuning. Wait until it ends, or end it"
    assert said == [("", f"islands: {words}\n")]
    assert len(rows("a")) == 6
    assert {json.loads(row["settings"])["seed"] for row in rows("a")} == {4}
    assert Path("a/best.toml").exists()
    # Both end in turn.
    assert main(["tune", *other]) == 0
    assert len(rows("a")) == (6 if force else 12)


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75), (signal.SIGKILL, -9)]
)
def test_interrupted_tuning_is_resumed_with_the_same_result(
    number: signal.Signals, status: int, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-m", "islands", "tune", *SLOW, "--out", "a", "--quiet"]
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
    assert state_of(Path("a")).word == "stopped"
    if status > 0:
        assert f"Ended after {ended} of 6 rows".encode() in out
        assert b"To continue, repeat the command with --out a\n" in out
    assert not Path("a/best.toml").exists()
    again = done(capsys, "tune", *SLOW, "--out", "a")
    assert [row["costs"] for row in rows("a")] == [row["costs"] for row in rows(str(whole))]
    assert again["best"] == done(capsys, "tune", *SLOW, "--out", str(whole))["best"]
    assert state_of(Path("a")).word == "done"
