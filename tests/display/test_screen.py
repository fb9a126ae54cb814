"""What the screen, its log and its lines of progress contain, and when they are written."""

import io
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from commands_for_tests import Patch
from programs_for_tests import SCAN

from islands.backends.cache import Compiling
from islands.configuration.stop import parse
from islands.display.heartbeat import Heartbeat
from islands.display.screen import Screen
from islands.display.standstill import Standstill
from islands.engine.build import forget_devices
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


COMPILES = "compiling the kernels (once)"
ABOUT = "compiling the kernels (about {} s, once)"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: Patch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    forget_devices()  # with the programs that other tests have compiled
    return tmp_path / "cache"


_DAMAGED = ("", "\0", "[]", '{"a": 1}', '{"a": [-1, 5]}', '{"a": [1, 0]}', '{"a": [NaN, 5]}')
_DAMAGED += ('{"a": [1e999, 5]}', '{"a": ["x", []]}')


@pytest.mark.parametrize("content", _DAMAGED)
def test_damaged_estimates_are_ignored_and_replaced(cache: Path, content: str) -> None:
    cache.mkdir(mode=0o700)
    (cache / "compile-seconds-cpu.json").write_text(content)
    compiling, reported = Compiling("cpu"), list[str]()
    compiling.announce = reported.append
    compiling.expect("a kind", SCAN)
    compiling.begin(SCAN)
    assert reported == [COMPILES]
    compiling.record(2.5)
    again = Compiling("cpu")
    again.announce = reported.append
    again.expect("a kind", SCAN)
    again.begin(SCAN)
    assert reported[1:] == [ABOUT.format(2)]
