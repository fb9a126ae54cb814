from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from islands.display.screen import Screen
from islands.errors import UnwritableError
from islands.progress.progress import Progress

PROGRESS = Progress(10, 1000, 1.5, 90, 0, 9, 100.0)


def said(log: Path, *, quiet: bool) -> str:
    stream = StringIO()
    with Screen(stream, log, quiet=quiet) as screen:
        screen.say("HEAD\n")
        screen.show(PROGRESS)
        screen.end(PROGRESS, "END")
    return stream.getvalue()


def test_the_log_contains_the_output(tmp_path: Path) -> None:
    text = said(tmp_path / "log.txt", quiet=False)
    assert text.startswith("HEAD\n")
    assert text.endswith("\nEND\n")
    assert (tmp_path / "log.txt").read_text() == text


def test_quiet_prints_only_the_end_and_logs_everything(tmp_path: Path) -> None:
    assert said(tmp_path / "log.txt", quiet=True) == "END\n"
    assert (tmp_path / "log.txt").read_text() == said(tmp_path / "other.txt", quiet=False)


def test_an_existing_log_is_extended_and_also_contains_notes(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("EARLIER\n")
    stream = StringIO()
    with Screen(stream, tmp_path / "log.txt") as screen:
        screen.say("HEAD")
        screen.note("rank 0")
    assert stream.getvalue() == "HEAD\n"
    assert (tmp_path / "log.txt").read_text() == "EARLIER\nHEAD\nrank 0\n"


def test_the_row_after_a_checkpoint_has_a_letter() -> None:
    stream = StringIO()
    with Screen(stream, None) as screen:
        screen.show(PROGRESS)
        screen.kept()
        screen.end(replace(PROGRESS, generation=20, cost=80), "END")
    rows = [
        line for line in stream.getvalue().splitlines() if " | " in line and "Evals" not in line
    ]
    assert [row.split()[0] for row in rows] == ["*", "*C"]
    assert len({len(row) for row in rows}) == 1


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "log.txt").mkdir()
    with pytest.raises(
        UnwritableError, match=r"log\.txt: cannot be written: Is a directory\. Make"
    ):
        said(tmp_path / "log.txt", quiet=False)


def test_a_full_output_is_named(tmp_path: Path) -> None:
    class Full(StringIO):
        name = "<stdout>"

        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    with (
        pytest.raises(UnwritableError, match=r"^<stdout>: cannot be written: No space left"),
        Screen(Full(), tmp_path / "log.txt") as screen,
    ):
        screen.say("HEAD\n")


def test_names_that_are_not_utf8_are_logged(tmp_path: Path) -> None:
    with Screen(None, tmp_path / "log.txt") as screen:
        screen.say("caf\udce9")
    assert (tmp_path / "log.txt").read_text() == "caf\\udce9\n"


def test_a_screen_without_stream_and_log_prints_nothing() -> None:
    with Screen(None, None) as screen:
        screen.say("HEAD\n")
        screen.end(PROGRESS, "END")
