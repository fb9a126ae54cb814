"""What the screen and the log show, and the rows of the table."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from islands.display.screen import HEADER, KEY, Screen, Table, row
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


def progress(generation: int, seconds: float, cost: int, gap: float | None = None) -> Progress:
    return Progress(generation, 1000 * generation, seconds, cost, 3, generation, 1.1 * cost, gap)


def shown(*epochs: Progress, finish: bool = True) -> list[str]:
    lines = list[str]()
    table = Table(lines.append)
    for epoch in epochs:
        table.show(epoch)
    if finish:
        table.finish(epochs[-1])
    return lines


def generations(lines: list[str]) -> list[int]:
    rows = [line for line in lines if line not in (KEY, f"\n{HEADER}")]
    return [int(line[1:15]) for line in rows]


def test_a_new_best_is_shown_at_most_once_a_second() -> None:
    lines = shown(*(progress(g, 0.25 * g, 1000 - g) for g in range(10)), finish=False)
    assert generations(lines) == [0, 4, 8]
    assert all(line.startswith("*") for line in lines[2:])


def test_without_a_new_best_there_is_a_row_every_five_seconds() -> None:
    lines = shown(*(progress(g, 1.0 * g, 1000) for g in range(12)), finish=False)
    assert generations(lines) == [0, 5, 10]
    assert [line[0] for line in lines[2:]] == ["*", " ", " "]


def test_the_last_epoch_is_shown_once() -> None:
    assert generations(shown(progress(0, 0.0, 9), progress(1, 0.1, 8))) == [0, 1]
    assert generations(shown(progress(0, 0.0, 9))) == [0]


def test_the_header_is_repeated_every_twenty_rows() -> None:
    lines = shown(*(progress(g, 6.0 * g, 1000) for g in range(41)))
    assert lines[0] == KEY
    assert [i for i, line in enumerate(lines) if line == f"\n{HEADER}"] == [1, 22, 43]


def test_columns_are_aligned_with_the_header() -> None:
    line = row(progress(4_000_000, 3000.0, 123_456_789, gap=12.345), progress(0, 0.0, 5))
    assert line == (
        "*     4000000   50.0m |    123456789  12.35%      3 |   10.0% |   4.0G    1.3M"
    )
    assert [i for i, c in enumerate(line) if c == "|"] == [
        i for i, c in enumerate(HEADER) if c == "|"
    ]
    assert len(line) == len(HEADER) < 80
    assert len(KEY) < 80


def test_after_a_resume_the_first_row_has_a_star_only_for_a_new_best() -> None:
    found = replace(progress(30, 2.0, 9), best_generation=20)
    assert row(found, None)[0] == "*"
    assert row(found, None, since=20)[0] == " "
    assert row(found, None, since=19)[0] == "*"
    lines = list[str]()
    table = Table(lines.append)
    table.resumes_from(20)
    table.show(found)
    table.finish(progress(40, 3.0, 8))
    assert [line[0] for line in lines[2:]] == [" ", "*"]


def test_the_speed_refers_to_the_previous_row() -> None:
    assert row(progress(3000, 4.0, 7), progress(1000, 2.0, 9)).split()[-2:] == ["3.0M", "1.0M"]
    assert row(progress(3000, 2.0, 7), progress(1000, 2.0, 9)).split()[-1] == "-"


def test_the_spread_of_negative_costs_is_positive() -> None:
    assert row(progress(1, 1.0, -200), None).split()[8] == "10.0%"
    assert row(progress(1, 1.0, 200), None).split()[8] == "10.0%"


def test_unknown_values_are_dashes() -> None:
    line = row(progress(0, 0.0, 0), None)
    assert line.split() == ["*", "0", "0.0s", "|", "0", "-", "3", "|", "-", "|", "0", "-"]
