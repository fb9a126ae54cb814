"""`islands watch` and `islands status` of a series and of a measurement, and after their end."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands_for_tests import Capture, Patch
from jobs import PROGRAM, log, wait_until

from islands.cli import follow, main
from islands.display.heartbeat import Work, read_work
from islands.studies.clusters.follow import JobState
from islands.studies.pages.folders import LivePage

SERIES = ["run", "demo/tsp", "--population", "16", "--islands", "2", "--backend", "cpu"]
SERIES += ["--threads", "1", "--improver", "none", "--out", "a"]
RELOAD = '<meta http-equiv="refresh" content="'


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: Patch) -> None:
    monkeypatch.setattr(follow, "_STATE_SECONDS", 0.0)


@contextmanager
def started(*line: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a command that runs, and kill it at the end."""
    with subprocess.Popen([*PROGRAM, *line], stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def _has_shown_a_second_run(work: Work | None) -> bool:
    """Return whether the log of a run after the first has rows, which `watch` prints."""
    if work is None or work.number < 2:
        return False
    return "Generation" in log(Path(f"a/tsp-seed{work.number}"))


@pytest.mark.slow
def test_a_series_of_another_process_is_watched_and_named(capsys: Capture) -> None:
    line = [*SERIES, "--runs", "9", "--stop", "generations=1500"]
    with started(*line) as process:
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


@pytest.fixture
def pages(monkeypatch: Patch) -> list[str]:
    """Return a list to which each version of the page `live.html` will be added."""
    pytest.importorskip("matplotlib")
    versions: list[str] = []
    update = LivePage.update

    def kept(page: LivePage, *, is_final: bool) -> None:
        update(page, is_final=is_final)
        versions.append(Path("live.html").read_text(encoding="utf-8"))

    monkeypatch.setattr(LivePage, "update", kept)
    return versions


@pytest.mark.slow
def test_the_page_of_a_running_run_is_loaded_again_until_the_run_ends(pages: list[str]) -> None:
    line = [*SERIES, "--stop", "seconds=5"]
    with started(*line) as process:
        wait_until(lambda: "Generation" in log(Path("a")))
        assert main(["watch", "a", "--page", "live.html"]) == 0
        assert process.wait() == 0
    *running, last = pages
    assert running
    for page in running:
        assert RELOAD in page
        assert "This run is not finished" in page
    assert RELOAD not in last
    assert "This run is not finished" not in last
    assert "<h2>Solution</h2>" in last


@pytest.mark.slow
def test_the_page_of_a_series_waits_for_its_first_run(pages: list[str]) -> None:
    Path("a").mkdir()
    page = LivePage(Path("a"), Path("live.html"), 0.0)
    page.update(is_final=False)
    assert RELOAD in pages[0]
    assert "No run has begun in this folder yet." in pages[0]
    assert main([*SERIES, "--runs", "2", "--stop", "generations=5", "--quiet"]) == 0
    assert main(["watch", "a", "--page", "live.html"]) == 0
    assert RELOAD not in pages[1]
    assert "Series in a: 2 runs" in pages[1]


def test_the_page_is_not_loaded_again_after_an_interruption(
    pages: list[str], monkeypatch: Patch
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    assert main([*SERIES, "--stop", "generations=5", "--quiet"]) == 0
    Path("a/solution.parquet").unlink()
    monkeypatch.setattr(follow, "state_of", lambda _: JobState("running", "running"))
    monkeypatch.setattr(time, "sleep", interrupt)
    assert main(["watch", "a", "--page", "live.html"]) == 130
    assert [RELOAD in page for page in pages] == [True, False]
    assert "This run is not finished" in pages[1]


def test_the_page_of_work_without_a_run_ends_with_the_reason(pages: list[str]) -> None:
    Path("a").mkdir()
    page = LivePage(Path("a"), Path("live.html"), 0.0)
    page.update(is_final=False)
    page.update(is_final=True)
    assert [RELOAD in page for page in pages] == [True, False]
    assert "a: contains no run" in pages[1]


def test_a_page_stays_while_its_folder_cannot_be_read(pages: list[str]) -> None:
    assert main([*SERIES, "--stop", "generations=5", "--quiet"]) == 0
    page = LivePage(Path("a"), Path("live.html"), 0.0)
    page.update(is_final=False)
    Path("a/run.toml").rename("a/run.old")
    page.update(is_final=False)
    assert pages[0] == pages[1]


def test_a_page_that_cannot_be_made_is_rejected_at_once(capsys: Capture) -> None:
    pytest.importorskip("matplotlib")
    Path("a").mkdir()
    assert main(["watch", "a", "--page", "a/live.html"]) == 2
    assert "is in a folder without results" in capsys.readouterr().err
    Path("a/.runs.lock").write_text("measurement")
    for page, words in {
        "live.pdf": "--page live.pdf: must end in .html or .htm, as a page is HTML",
        "live.html": "--page: a contains a measurement of islands bench, which has no page",
    }.items():
        assert main(["watch", "a", "--page", page]) == 2
        assert words in capsys.readouterr().err
