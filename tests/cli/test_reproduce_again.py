"""`islands reproduce` is interrupted by a signal and resumed with the same command."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from instance_texts import tsplib_text
from quick_plots import without_drawing
from standing_ranks import StandingRanks

from islands.cli import main
from islands.display.heartbeat import read_work
from islands.instances.synthetic import uniform_tsp
from islands.report.folders import page_for

pytest.importorskip("scipy")
pytest.importorskip("matplotlib")

LINE = ["reproduce", "jardim2021/local-searches", "--only", "chr12c", "els19", "--runs", "2"]
LINE += ["--generations", "60", "--backend", "cpu", "--out"]
OWN = ("instance", "search", "gap", "deviation", "calls", "generations", "runs")
"""Columns that no clock changes."""


@pytest.fixture(scope="module", autouse=True)
def _without_drawing() -> Iterator[None]:
    """Draw no plots in this process; the ranks of these tests draw theirs."""
    with without_drawing():
        yield


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(folder: str) -> list[tuple[str, ...]]:
    with Path(folder, "local-searches.csv").open(newline="", encoding="utf-8") as stream:
        return [tuple(row[name] for name in OWN) for row in csv.DictReader(stream)]


def kept(folder: str) -> list[str]:
    path = Path(folder, "runs.jsonl")
    return path.read_text().splitlines() if path.exists() else []


@pytest.fixture(scope="module")
def whole(published: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of the experiment without interruption."""
    folder = str(tmp_path_factory.mktemp("whole"))
    assert main([*LINE, folder]) == 0
    return folder


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 75), (signal.SIGKILL, -9)]
)
def test_same_command_resumes(
    number: signal.Signals, status: int, whole: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [sys.executable, "-m", "islands", *LINE, "a"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 100
        while len(kept("a")) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == status, err
    ended = kept("a")
    assert 2 <= len(ended) < 6
    work = read_work(Path("a"))
    assert work is not None
    assert work.words.startswith("local-searches: qaplib/")
    if status > 0:
        assert b"Interrupted. To continue, repeat the command: a has the results\n" in out
    assert main([*LINE, "a", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert kept("a")[: len(ended)] == ended
    assert len(kept("a")) == 6
    assert rows("a") == rows(whole)
    assert len(rows("a")) == 6
    assert read_work(Path("a")) is None
    assert main([*LINE, "a", "--json"]) == 0
    captured = capsys.readouterr()
    assert "\n6 results from earlier runs\n" in captured.err
    assert json.loads(captured.out.splitlines()[-1]) == shown


@pytest.mark.usefixtures("published")
def test_a_killed_table_of_batches_goes_on_with_the_same_rows() -> None:
    line = ["reproduce", "jardim2021/literature", "--only", "nug18", "had16", "--runs", "3"]
    line += ["--generations", "150", "--backend", "cpu", "--quiet", "--out"]
    command = [sys.executable, "-m", "islands", *line, "a"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 100
        while not kept("a"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    ended = kept("a")
    assert len(ended) == 1
    shown = page_for([Path("a")]).html()
    assert "This experiment is not finished" in shown
    assert "last piece of work was literature: qaplib/" in shown
    for folder in ("a", "b"):
        assert main([*line, folder]) == 0
    assert kept("a")[0] == ended[0]
    assert len(kept("a")) == len(kept("b")) == 2, "the stored batch was made again"
    tables = []
    for folder in ("a", "b"):
        with Path(folder, "literature.csv").open(newline="", encoding="utf-8") as stream:
            tables.append([{**row, "seconds": ""} for row in csv.DictReader(stream)])
    assert tables[0] == tables[1]
    assert [row["instance"] for row in tables[0]] == ["qaplib/had16", "qaplib/nug18"]


@pytest.mark.usefixtures("published")
def test_a_killed_experiment_without_a_folder_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["reproduce", "jardim2021/literature", "--only", "nug18", "had16", "--runs", "3"]
    line += ["--generations", "150", "--backend", "cpu", "--quiet"]
    command = [sys.executable, "-m", "islands", *line]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 100
        while not any(kept(str(each)) for each in Path("runs").glob("unfinished-jardim2021-*")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    (folder,) = Path("runs").iterdir()
    found = len(kept(str(folder)))
    assert main([*line[:-1], "--json"]) == 0
    captured = capsys.readouterr()
    assert f"\n{found} result" in captured.err
    assert not Path("runs").exists()
    assert main([*line[:-1], "--json"]) == 0
    again = capsys.readouterr()
    assert "from earlier runs" not in again.err
    first, second = (json.loads(each.out)["tables"]["literature"] for each in (captured, again))
    tables = [[{**row, "seconds": 0} for row in each["rows"]] for each in (first, second)]
    assert tables[0] == tables[1]
    assert len(tables[0]) == 2


@pytest.mark.usefixtures("published")
def test_a_repetition_without_a_new_result_keeps_the_provenance() -> None:
    line = ["reproduce", "jardim2021/literature", "--only", "nug18", "had16", "--runs", "1"]
    line += ["--generations", "2", "--backend", "cpu", "--quiet", "--out", "a"]
    assert main(line) == 0
    path = Path("a", "provenance.json")
    made = json.loads(path.read_text())
    assert made["ranks"] == 1
    assert 0 < made["seconds"] < 600
    assert "driver" in made
    assert "not finished" not in Path("a", "report.html").read_text()
    earlier = json.dumps({**made, "date": "2026-01-02T03:04:05Z", "commit": "0123456789abcdef"})
    path.write_text(earlier)
    assert main(line) == 0
    assert path.read_text() == earlier
    assert "2026-01-02" in Path("a", "report.html").read_text()
    ledger = Path("a", "runs.jsonl")
    first = ledger.read_text().splitlines(keepends=True)[0]
    entry = json.loads(first)
    assert 0 < entry["seconds"] < made["seconds"]
    ledger.write_text(first)
    assert main(line) == 0
    assert json.loads(path.read_text())["date"] >= made["date"]
    path.unlink()
    assert main(line) == 0
    assert path.exists()


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [
        (signal.SIGINT, 130, "interrupted; ending the experiment (interrupt again to end at once)"),
        (signal.SIGTERM, 75, "SIGTERM; ending the experiment"),
    ],
)
def test_signal_to_one_rank_ends_all_ranks(
    mpirun: list[str],
    standing_ranks: StandingRanks,
    number: signal.Signals,
    status: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = tmp_path / "instances" / "vlsi" / "own40.tsp"
    own.parent.mkdir(parents=True)
    own.write_text(tsplib_text(uniform_tsp(40, seed=1)), encoding="utf-8")
    monkeypatch.setenv("ISLANDS_INSTANCES", str(tmp_path / "instances"))
    line = ["reproduce", "xavier2019/vlsi", "--runs", "4", "--generations", "400"]
    line += ["--threads", "none", "--backend", "cpu", "--out", "a"]
    command = [*mpirun, "2", "sh", "-c", 'echo $$ >>pids; exec "$@"', "sh"]
    command += [sys.executable, "-m", "islands", *line]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 100
        while not kept("a"):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(int(Path("pids").read_text().split()[0]), number)
        out, err = process.communicate(timeout=60)
    # On a busy machine, a sign of life may come after the notice.
    beat = "reproduce xavier2019: vlsi: "
    shown = [line for line in err.splitlines() if not line.startswith(beat)]
    assert (process.returncode, shown) == (status, [f"islands: {said}"])
    assert out.endswith("\nInterrupted. To continue, repeat the command: a has the results\n")
    ended = kept("a")
    assert 1 <= len(ended) < 4
    again = standing_ranks.run(2, "-m", "islands", *line)
    assert again.returncode == 0, again.stderr
    assert kept("a")[: len(ended)] == ended
    assert len(kept("a")) == 4
