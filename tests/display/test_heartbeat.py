from __future__ import annotations

import io
import time
from types import SimpleNamespace

import pytest

from islands.display import heartbeat as module
from islands.display.heartbeat import Heartbeat, duration


class Clock:
    """Replaces the module `time`; the time advances only by assignment."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    return clock


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_file_gets_the_first_line_at_once_and_then_few(clock: Clock) -> None:
    log = io.StringIO()
    reported = []
    with Heartbeat(log, "tune") as heartbeat:
        for _ in heartbeat.over("abcd", "run {}".format, seconds=4):
            reported.append(log.getvalue())
            clock.now += 3
    first = "tune: run a, 1 of 4; at most 4 s each, about 16 s in all, plus compilation\n"
    assert reported[:2] == [first, first]
    # The estimate uses the measured 3 s per piece, not the maximum.
    assert log.getvalue() == f"{first}tune: run c, 3 of 4; 6 s elapsed, about 6 s left\n"


def test_the_estimate_uses_the_effort_of_completed_pieces(
    clock: Clock,
) -> None:
    log = io.StringIO()
    heartbeat = Heartbeat(log, "bench")
    for piece in heartbeat.over([2, 0, 3, 1], "size {}".format, effort=float):
        if piece == 0:
            heartbeat.skip()  # its time is not typical
        clock.now += 10 * piece
        if piece == 3:
            heartbeat.detail("seed 7")
    assert log.getvalue().splitlines() == [
        "bench: size 2, 1 of 4",
        "bench: size 0, 2 of 4; 20 s elapsed, about 40 s left",
        "bench: size 3, 3 of 4, seed 7; 50 s elapsed, about 10 s left",
    ]


def test_a_piece_that_takes_longer_leaves_the_time_of_the_others(clock: Clock) -> None:
    told = list[str]()
    heartbeat = Heartbeat()
    heartbeat.tell = lambda work: told.append(work.time)
    for piece in heartbeat.over("abcd", str):
        clock.now += 3
        if piece == "b":
            clock.now += 57
            heartbeat.detail("seed 7")
    assert told[2] == "63 s elapsed, about 6 s left"


def test_on_a_terminal_results_replace_the_progress_line(clock: Clock) -> None:
    terminal, results = Terminal(), io.StringIO()
    with Heartbeat(terminal, "tune") as heartbeat:
        for _ in heartbeat.over("ab", "run {}".format):
            heartbeat.print("a result", results)
            assert terminal.getvalue().endswith("\r\x1b[K")
        heartbeat.detail("seed 2")
    shown = terminal.getvalue()
    assert shown.startswith("\r\x1b[Ktune: run a, 1 of 2\r")
    assert shown.count("\r\x1b[Ktune: run b, 2 of 2; about 1 s left\r") == 1
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[K")
    assert results.getvalue() == "a result\na result\n"


def test_a_long_piece_is_reported_repeatedly_and_the_end_is_not_delayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_SIGN_OF_LIFE", 0.05)
    monkeypatch.setattr(module, "_SELDOM", 0.0)
    log = io.StringIO()
    with Heartbeat(log, "bench") as heartbeat:
        for _ in heartbeat.over("a", "run {}".format):
            time.sleep(0.5)
    assert 3 <= log.getvalue().count("bench: run a, 1 of 1") <= 11
    monkeypatch.setattr(module, "_SIGN_OF_LIFE", 30.0)
    began = time.perf_counter()
    with Heartbeat(log) as heartbeat:
        pass
    assert time.perf_counter() - began < 1


def test_each_report_is_told_also_without_a_stream(clock: Clock) -> None:
    told: list[str] = []
    heartbeat = Heartbeat()
    heartbeat.tell = lambda work: told.append(f"{work.number} of {work.of}: {work}")
    for _ in heartbeat.over("ab", "run {}".format):
        clock.now += 1
        heartbeat.detail("seed 7")
        clock.now += 3
    assert told == [
        "1 of 2: run a, 1 of 2",
        "1 of 2: run a, 1 of 2, seed 7; 1 s elapsed",
        "2 of 2: run b, 2 of 2; 4 s elapsed, about 4 s left",
        "2 of 2: run b, 2 of 2, seed 7; 5 s elapsed, about 3 s left",
    ]


def test_a_closed_stream_is_ignored() -> None:
    closed = io.StringIO()
    closed.close()
    listeners = (None, SimpleNamespace(isatty=lambda: False, write=broken), unread(closed))
    for stream in listeners:
        with Heartbeat(stream, "tune") as heartbeat:  # type: ignore[arg-type]
            assert list(heartbeat.over("ab", str)) == ["a", "b"]


def broken(_: str) -> int:
    raise BrokenPipeError


def unread(stream: io.StringIO) -> SimpleNamespace:
    return SimpleNamespace(isatty=lambda: False, write=stream.write)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5, "0.5 s"), (9.96, "10 s"), (99, "99 s"), (100, "2 min"), (7200, "2.0 h")],
)
def test_durations_are_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words
