"""Colours and the state of a run on a terminal; other streams get plain lines."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from islands.configuration.stop import parse, seconds_left
from islands.display.screen import Screen
from islands.display.terminal import coloured, is_terminal, takes_colours
from islands.progress.progress import Progress

PROGRESS = Progress(10, 1000, 2.0, 90, 0, 9, 100.0)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_only_a_terminal_without_no_color_gets_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "* 1\nBest 10, gap 1%\nislands: no\n"
    assert not takes_colours(StringIO())
    assert takes_colours(Terminal())
    assert coloured(text) == (
        "\x1b[32m*\x1b[0m 1\n\x1b[1;32mBest 10\x1b[0m, gap 1%\n\x1b[31mislands:\x1b[0m no\n"
    )
    monkeypatch.setenv("NO_COLOR", "")  # an empty value has no effect
    assert takes_colours(Terminal())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not takes_colours(Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not is_terminal(Terminal())


def test_ranks_of_a_launcher_print_plain_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    assert not is_terminal(Terminal())
    assert not takes_colours(Terminal())


def shown(stream: StringIO, log: Path, *, quiet: bool = False) -> str:
    criteria = [parse("generations=40"), parse("seconds=100")]
    with Screen(stream, log, quiet=quiet, criteria=criteria) as screen:
        screen.show(PROGRESS)
        screen.end(PROGRESS, "END")
    return stream.getvalue()


def test_a_terminal_shows_the_remaining_time_until_the_next_output(tmp_path: Path) -> None:
    text = shown(Terminal(), tmp_path / "log.txt")
    state = "\r\x1b[Kgeneration 10: best 90, 2 s, at most 6 s left\r"
    assert text.count(state) == 1
    assert "\r\x1b[K\nEND\n" in text
    log = (tmp_path / "log.txt").read_text()
    assert "\x1b" not in log
    assert "\r" not in log


def test_the_state_has_the_gap_or_says_that_there_is_no_solution() -> None:
    for state, found in (
        (replace(PROGRESS, gap=1.25), "best 90, gap 1.25%, 2 s"),
        (replace(PROGRESS, cost=None), "no solution yet, 2 s"),
    ):
        with Screen(stream := Terminal(), None) as screen:
            screen.show(state)
        assert f"generation 10: {found}\r" in stream.getvalue()


def test_other_streams_get_plain_lines(tmp_path: Path) -> None:
    text = shown(StringIO(), tmp_path / "log.txt")
    assert text == (tmp_path / "log.txt").read_text()
    assert "\x1b" not in text
    assert shown(Terminal(), tmp_path / "other.txt", quiet=True) == "END\n"


@pytest.mark.parametrize(
    ("stop", "left"),
    [
        (["generations=40"], 6.0),
        (["seconds=100"], 98.0),
        (["seconds=100", "generations=40"], 6.0),
        (["evaluations=1500"], 1.0),
        (["evaluations=10"], 0.0),
        (["target=1"], None),
        (["stagnation=5", "target=1"], None),
        ([], None),
    ],
)
def test_the_remaining_time_by_the_nearest_limit(stop: list[str], left: float | None) -> None:
    assert seconds_left([parse(each) for each in stop], PROGRESS) == left
    assert seconds_left([parse(each) for each in stop], Progress(0, 9, 0.0, 1, 0, 0, 1.0)) is None
