"""What the screen, its log and its lines of progress contain, and when they are written."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands_for_tests import Patch

from islands.configuration.stop import parse, seconds_left
from islands.display import heartbeat as module
from islands.display.heartbeat import Heartbeat
from islands.display.screen import HEADER, KEY, Screen, Table, row
from islands.display.standstill import Standstill
from islands.display.terminal import coloured, is_terminal, takes_colours
from islands.errors import UnwritableError
from islands.progress.progress import Progress

PROGRESS = Progress(10, 1000, 2.0, 90, 0, 9, 100.0)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: Patch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def said(stream: StringIO, log: Path, *, quiet: bool = False) -> str:
    criteria = [parse("generations=40"), parse("seconds=100")]
    with Screen(stream, log, quiet=quiet, criteria=criteria) as screen:
        screen.say("HEAD\n")
        screen.show(PROGRESS)
        screen.end(PROGRESS, "END")
    return stream.getvalue()


def test_the_log_contains_the_output_also_of_a_quiet_run_and_of_a_terminal(tmp_path: Path) -> None:
    plain = said(StringIO(), tmp_path / "log.txt")
    assert plain.startswith("HEAD\n")
    assert plain.endswith("\nEND\n")
    assert "\x1b" not in plain
    assert said(StringIO(), tmp_path / "quiet.txt", quiet=True) == "END\n"
    terminal = said(Terminal(), tmp_path / "terminal.txt")
    assert "\r\x1b[Kgeneration 10: best 90, 2 s, at most 6 s left\r" in terminal
    for name in ("log", "quiet", "terminal"):
        assert (tmp_path / f"{name}.txt").read_text() == plain


def test_an_existing_log_is_extended_and_also_contains_notes(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("EARLIER\n")
    with Screen(stream := StringIO(), tmp_path / "log.txt") as screen:
        screen.say("caf\udce9")  # not UTF-8
        screen.note("rank 0")
    assert stream.getvalue() == "caf\\udce9\n"
    assert (tmp_path / "log.txt").read_text() == "EARLIER\ncaf\\udce9\nrank 0\n"


def test_a_log_and_an_output_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    class Full(StringIO):
        name = "<stdout>"

        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    (tmp_path / "log.txt").mkdir()
    with pytest.raises(UnwritableError, match=r"log\.txt: cannot be written: Is a directory"):
        said(StringIO(), tmp_path / "log.txt")
    with pytest.raises(UnwritableError, match=r"^<stdout>: cannot be written: No space left"):
        said(Full(), tmp_path / "other.txt")


def progress(generation: int, seconds: float, cost: int) -> Progress:
    return Progress(generation, 1000 * generation, seconds, cost, 3, generation, 1.1 * cost)


def shown(*epochs: Progress, finish: bool = True) -> list[str]:
    lines = list[str]()
    table = Table(lines.append)
    for epoch in epochs:
        table.show(epoch)
    if finish:
        table.finish(epochs[-1])
    return [line for line in lines if line not in (KEY, f"\n{HEADER}")]


def generations(lines: list[str]) -> list[int]:
    return [int(line[1:15]) for line in lines]


def test_rows_come_with_a_new_best_once_a_second_and_else_every_five_seconds() -> None:
    lines = shown(*(progress(g, 0.25 * g, 1000 - g) for g in range(10)), finish=False)
    assert generations(lines) == [0, 4, 8]
    assert [line[0] for line in lines] == ["*", "*", "*"]
    lines = shown(*(progress(g, 1.0 * g, 1000) for g in range(12)), finish=False)
    assert generations(lines) == [0, 5, 10]
    assert [line[0] for line in lines] == ["*", " ", " "]
    # The last epoch is shown once.
    assert generations(shown(progress(0, 0.0, 9), progress(1, 0.1, 8))) == [0, 1]
    assert generations(shown(progress(0, 0.0, 9))) == [0]


def test_after_a_resume_the_first_row_has_a_star_only_for_a_new_best() -> None:
    found = replace(progress(30, 2.0, 9), best_generation=20)
    assert row(found, None)[0] == "*"
    assert row(found, None, since=20)[0] == " "
    assert row(found, None, since=19)[0] == "*"


def test_the_speed_refers_to_the_previous_row_and_the_spread_is_positive() -> None:
    assert row(progress(3000, 4.0, 7), progress(1000, 2.0, 9)).split()[-2:] == ["3.0M", "1.0M"]
    assert row(progress(3000, 2.0, 7), progress(1000, 2.0, 9)).split()[-1] == "-"
    for cost in (-200, 200):
        assert row(progress(1, 1.0, cost), None).split()[8] == "10.0%"


def test_only_a_terminal_without_no_color_gets_colours(monkeypatch: Patch) -> None:
    assert not takes_colours(StringIO())
    assert takes_colours(Terminal())
    assert coloured("* 1\n") == "\x1b[32m*\x1b[0m 1\n"
    monkeypatch.setenv("NO_COLOR", "")  # an empty value has no effect
    assert takes_colours(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not takes_colours(Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not is_terminal(Terminal())
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    assert not is_terminal(Terminal())


@pytest.mark.parametrize(
    ("stop", "left"),
    [
        (["generations=40"], 6.0),
        (["seconds=100"], 98.0),
        (["seconds=100", "generations=40"], 6.0),
        (["evaluations=1500"], 1.0),
        (["evaluations=10"], 0.0),
        (["stagnation=5", "target=1"], None),
        ([], None),
    ],
)
def test_the_remaining_time_by_the_nearest_limit(stop: Sequence[str], left: float | None) -> None:
    assert seconds_left([parse(each) for each in stop], PROGRESS) == left
    assert seconds_left([parse(each) for each in stop], Progress(0, 9, 0.0, 1, 0, 0, 1.0)) is None


@pytest.fixture
def clock(monkeypatch: Patch) -> SimpleNamespace:
    """Return a clock that advances only by assignment."""
    clock = SimpleNamespace(now=0.0)
    clock.perf_counter = lambda: clock.now
    monkeypatch.setattr(module, "time", clock)
    return clock


def test_a_log_file_gets_the_first_line_at_once_and_then_few(clock: SimpleNamespace) -> None:
    log = io.StringIO()
    with Heartbeat(log, "tune") as heartbeat:
        for _ in heartbeat.over("abcd", "run {}".format, seconds=4):
            assert log.getvalue()
            clock.now += 3
    first, second = log.getvalue().splitlines()
    assert first.startswith("tune: run a, 1 of 4; at most 4 s each, about 16 s in all")
    # The estimate uses the measured 3 s per piece, not the maximum.
    assert second == "tune: run c, 3 of 4; 6 s elapsed, about 6 s left"


def test_the_estimate_uses_the_effort_of_completed_pieces(clock: SimpleNamespace) -> None:
    told = list[str]()
    heartbeat = Heartbeat()
    heartbeat.tell = lambda work: told.append(work.time)
    for piece in heartbeat.over([2, 0, 3, 1], "size {}".format, effort=float):
        if piece == 0:
            heartbeat.skip()  # its time is not typical
        clock.now += 10 * piece
        if piece == 3:
            heartbeat.detail("seed 7")
    left = [words.rpartition("about ")[2] for words in told if "about" in words]
    assert left[:2] == ["40 s left", "40 s left"]
    assert "10 s left" in left
    told.clear()
    for piece in heartbeat.over("abcd", str):
        clock.now += 3
        if piece == "b":  # it takes longer, which leaves the time of the others
            clock.now += 57
            heartbeat.detail("seed 7")
    assert told[2].endswith(", about 6 s left")


def test_a_long_piece_is_reported_repeatedly_and_the_end_is_not_delayed(monkeypatch: Patch) -> None:
    monkeypatch.setattr(module, "_SIGN_OF_LIFE", 0.05)
    monkeypatch.setattr(module, "_SELDOM", 0.0)
    log = io.StringIO()
    with Heartbeat(log, "bench") as heartbeat:
        for _ in heartbeat.over("a", "run {}".format):
            time.sleep(0.5)
    assert 3 <= log.getvalue().count("bench: run a, 1 of 1") <= 11
    monkeypatch.setattr(module, "_SIGN_OF_LIFE", 30.0)
    began = time.perf_counter()
    with Heartbeat(log):
        pass
    assert time.perf_counter() - began < 1


def test_a_closed_stream_is_ignored() -> None:
    def broken(_: str) -> int:
        raise BrokenPipeError

    closed = io.StringIO()
    closed.close()
    unread = SimpleNamespace(isatty=lambda: False, write=closed.write)
    for stream in (None, SimpleNamespace(isatty=lambda: False, write=broken), unread):
        with Heartbeat(stream, "tune") as heartbeat:  # type: ignore[arg-type]
            assert list(heartbeat.over("ab", str)) == ["a", "b"]


EARLY = Progress(10, 1000, 2.0, cost=7, island=0, best_generation=10, mean=8.0)


def after(seconds: float, cost: float | None = 7, gap: float | None = None) -> Progress:
    return replace(EARLY, seconds=seconds, evaluations=int(1000 * seconds), cost=cost, gap=gap)


def test_a_long_standstill_is_said_once() -> None:
    late = after(50, cost=6)
    for times, course in (
        (1, [EARLY, after(11), after(13), after(14), after(90)]),
        (0, [EARLY, after(11.0)]),
        (0, [EARLY, after(60.0, cost=6)]),
        (0, [EARLY, after(60.0, gap=0.0)]),
        (0, [EARLY, late, after(90, cost=6)]),  # a late best waits for as long
        (1, [EARLY, late, after(201, cost=6)]),
        (0, [after(0.9, cost=None)]),
        (1, [after(0.9, cost=None), after(1.5, cost=None), after(60, cost=None), after(61)]),
    ):
        standstill = Standstill("patience", "Raise it")
        assert len([words for each in course if (words := standstill.words(each))]) == times
