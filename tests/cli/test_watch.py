"""`islands watch` and `islands status` of a series and of a measurement, and after their end."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands_for_tests import Capture, Patch

from islands.cli import follow, main
from islands.display.heartbeat import Work, read_work

SERIES = ["run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"]
SERIES += ["--threads", "1", "--improver", "none", "--out", "a"]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: Patch) -> None:
    monkeypatch.setattr(follow, "_STATE_SECONDS", 0.0)


def _has_shown_a_second_run(work: Work | None) -> bool:
    """Return whether the log of a run after the first has rows, which `watch` prints."""
    if work is None or work.number < 2:
        return False
    log = Path(f"a/tsp-seed{work.number}/log.txt")
    return log.exists() and "Generation" in log.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_series_of_another_process_is_watched_and_named(capsys: Capture) -> None:
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
    assert main([*SERIES, "--runs", "2", "--stop", "generations=1500", "--quiet"]) == 0
    assert read_work(Path("a")) is None
    capsys.readouterr()
    assert main(["watch", "a"]) == 0
    assert "a: done: a series of runs; table: a/runs.tsv\n" in capsys.readouterr().out
