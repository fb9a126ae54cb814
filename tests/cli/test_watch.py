"""`islands watch` of a series, a tuning and an experiment, and what other commands say of them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from islands.bench import quality_runs as runs
from islands.cli import follow, main
from islands.display.heartbeat import Work, end_work, read_work, write_work
from islands.record.folder import EXPERIMENTS_LOCK, SERIES_LOCK, TUNING_LOCK
from islands.record.lock import FolderLock

SERIES = ["run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"]
SERIES += ["--threads", "1", "--improver", "none", "--out", "a"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(follow, "_STATE_SECONDS", 0.0)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """Return the actions of the other process, one for each time that the watch sleeps."""
    actions: list[Callable[[], object]] = []

    class Clock:
        monotonic = staticmethod(time.monotonic)

        @staticmethod
        def sleep(_: float) -> None:
            actions.pop(0)()

    monkeypatch.setattr(follow, "time", Clock)
    return actions


KINDS = {
    "a series of runs": (SERIES_LOCK, "runs.tsv", "table: w/runs.tsv"),
    "a tuning": (TUNING_LOCK, "ranking.tsv", "ranking: w/ranking.tsv; best: w/best.toml"),
    "an experiment of islands reproduce": ("runs.jsonl", "settings.toml", "tables: w"),
    "a measurement of islands bench": ("runs.jsonl", "bench.json", "tables: w/bench.json"),
    "experiments of islands reproduce": (EXPERIMENTS_LOCK, "report.html", "page: w/report.html"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_work_is_watched_until_its_end(
    kind: str, steps: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]
) -> None:
    lock_file, result, outcome = KINDS[kind]
    folder = Path("w")
    folder.mkdir()
    (folder / result).touch()
    with FolderLock("work", lock_file) as lock:
        lock.take(folder)
        write_work(folder, Work(1, 3, "nug12, 1 of 3", ""))
        steps += [
            lambda: write_work(folder, Work(1, 3, "nug12, 1 of 3", "2 s elapsed")),
            lambda: write_work(folder, Work(3, 3, "had16, 3 of 3", "about 5 s left")),
            lambda: (end_work(folder), lock.__exit__()),
        ]
        assert main(["watch", "w"]) == 0
    assert steps == []
    assert capsys.readouterr().out.splitlines() == [
        "w: nug12, 1 of 3",
        "w: had16, 3 of 3; about 5 s left",
        f"w: done: {kind}; {outcome}",
    ]


def test_names_and_reasons_make_no_lines_of_their_own(
    steps: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("w\nw: done")
    folder.mkdir()
    (folder / "runs.tsv").touch()
    with FolderLock("work", SERIES_LOCK) as lock:
        lock.take(folder)
        write_work(folder, Work(1, 1, "nug12\nw: done", "2 s\nw: done"))
        steps.append(lambda: (end_work(folder), lock.__exit__()))
        assert main(["watch", str(folder)]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert "nug12" in first
    assert "done: a series of runs" in last
    for command in ("status", "report"):
        main([command, str(folder)])
        out, error = capsys.readouterr()
        assert len((out + error).splitlines()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_status_of_running_work_names_its_piece(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lock_file, result, _ = KINDS[kind]
    folder = Path("w")
    folder.mkdir()
    (folder / result).touch()
    with FolderLock("work", lock_file) as lock:
        lock.take(folder)
        assert main(["status", "w"]) == 0
        assert capsys.readouterr().out == f"w: running: {kind}\n"
        write_work(folder, Work(2, 3, "nug12, 2 of 3", "about 5 s left"))
        assert main(["status", "w"]) == 0
        assert capsys.readouterr().out == f"w: running: {kind}: nug12, 2 of 3; about 5 s left\n"


def test_the_state_of_a_series_does_not_interrupt_the_table_of_its_run(
    steps: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]
) -> None:
    log = Path("w/nug12-seed1/log.txt")
    log.parent.mkdir(parents=True)
    Path("w/runs.tsv").touch()
    with FolderLock("work", SERIES_LOCK) as lock:
        lock.take(Path("w"))
        log.write_text("Generation\n1\n")
        steps += [
            lambda: write_work(Path("w"), Work(1, 1, "nug12, 1 of 1", "")),
            lambda: log.write_text("Generation\n1\n2\n"),
            lambda: (end_work(Path("w")), lock.__exit__()),
        ]
        assert main(["watch", "w"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["w: running: a series of runs", "Generation", "1"]
    assert lines[3:5] == ["w: nug12, 1 of 1", "2"]
    assert len(lines) == 6
    assert lines[5].startswith("w: done")


def test_work_whose_process_was_killed_is_shown_as_stopped(
    steps: list[Callable[[], object]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("my w")
    folder.mkdir()
    with FolderLock("tuning", TUNING_LOCK) as lock:
        lock.take(folder)
        write_work(folder, Work(2, 9, "configuration 1, nug12, 2 of 9", "7 s elapsed"))
        steps += [lock.__exit__]
        assert main(["watch", "my w"]) == 0
    said = "a tuning at configuration 1, nug12, 2 of 9; to continue, repeat its command with --out"
    assert capsys.readouterr().out.splitlines()[-1] == f"my w: stopped: {said} 'my w'"
    assert main(["status", "my w"]) == 0
    assert capsys.readouterr().out == f"my w: stopped: {said} 'my w'\n"


BENCH = ["bench", "quality", "--of", "demo/qap,demo/mkp", "--seeds", "2", "--limit", "0.2"]
BENCH += ["--backend", "cpu", "--threads", "1", "--quiet", "--out", "my b"]


def test_a_measurement_is_followed_while_it_runs_and_after_an_interrupt(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    said, whole = list[str](), runs.traced

    def traced(*asked: Any) -> dict[str, Any]:
        main(["status", "my b"])
        said.append(capsys.readouterr().out.splitlines()[-1])
        if len(said) == 4:
            raise KeyboardInterrupt
        return whole(*asked)

    with monkeypatch.context() as patched:
        patched.setattr("islands.bench.quality.traced", traced)
        assert main(BENCH) == 130
    capsys.readouterr()
    what = "a measurement of islands bench"
    assert said[0].startswith(f"my b: running: {what}: demo/qap, 1 of 2, default, cpu, seed 1")
    assert said[3].startswith(f"my b: running: {what}: demo/mkp, 2 of 2, default, cpu, seed 2; ")
    assert said[3].endswith("; 3 runs so far")
    assert main(["watch", "my b"]) == 0
    at = "at demo/mkp, 2 of 2, default, cpu, seed 2; 3 runs so far; to continue, repeat its command"
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"my b: stopped: {what} {at} with --out 'my b'"
    assert main(BENCH) == 0
    capsys.readouterr()
    assert main(["watch", "my b"]) == 0
    assert capsys.readouterr().out == f"my b: done: {what}; 4 runs; tables: my b/bench.json\n"
    assert main(["report", "my b"]) != 0
    assert f"my b: contains {what}, whose tables and plots are files" in capsys.readouterr().err
    assert main(["resume", "my b"]) != 0
    assert (
        f"contains {what}, not a run. Its tables are in my b/bench.json" in capsys.readouterr().err
    )


def _has_shown_a_second_run(work: Work | None) -> bool:
    """Return whether the log of a run after the first has rows, which `watch` prints."""
    if work is None or work.number < 2:
        return False
    log = Path(f"a/tsp-seed{work.number}/log.txt")
    return log.exists() and "Generation" in log.read_text(encoding="utf-8")


def test_a_series_of_another_process_is_watched_and_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = [*SERIES, "--runs", "9", "--stop", "generations=1500"]
    process = subprocess.Popen([sys.executable, "-m", "islands", *line], stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        process.send_signal(signal.SIGSTOP)
        while not _has_shown_a_second_run(work := read_work(Path("a"))):
            process.send_signal(signal.SIGCONT)
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
            process.send_signal(signal.SIGSTOP)
        assert work
        assert main(["status", "a"]) == 0
        said = capsys.readouterr().out
        assert said.startswith("a: running: a series of runs: demo/tsp, seed")
    finally:
        process.kill()
        process.wait()
    assert main(["watch", "a"]) == 0
    out = capsys.readouterr().out
    assert f"a: demo/tsp, seed {work.number}, {work.number} of 9" in out
    assert "Generation    Time" in out
    assert "a: stopped: a series of runs at demo/tsp, seed" in out
    for line in (["resume", "a"], ["verify", "demo/tsp", "a"], ["plot", "a"]):
        assert main(line) == 2
        assert capsys.readouterr().err == (
            "islands: a: contains a series of runs, not a run. Name one of its runs, such as"
            " a/tsp-seed1; to continue, repeat its command with --out a\n"
        )
    assert main([*SERIES, "--runs", "2", "--stop", "generations=1500", "--quiet"]) == 0
    assert read_work(Path("a")) is None
    capsys.readouterr()
    assert main(["watch", "a"]) == 0
    assert "a: done: a series of runs; table: a/runs.tsv\n" in capsys.readouterr().out


def test_an_empty_folder_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("none").mkdir()
    assert main(["watch", "none"]) == 2
    assert capsys.readouterr().err == (
        "islands: none: contains no run, series, tuning, experiment, measurement or submitted"
        " job. Name the folder of one\n"
    )


def test_resume_refuses_a_tuning_and_says_how_to_continue_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("t").mkdir()
    Path("t/tune.tsv").touch()
    assert main(["resume", "t"]) == 2
    assert capsys.readouterr().err == (
        "islands: t: contains a tuning, not a run. Look at it with: islands report t; to continue,"
        " repeat its command with --out t\n"
    )
