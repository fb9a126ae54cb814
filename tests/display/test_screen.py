from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from fakes import FakeProblem

from islands.display.screen import Screen, opening, place
from islands.errors import UnwritableError
from islands.instances.catalogue import BestKnown
from islands.instances.remarks import Remark
from islands.progress.machine import Machine
from islands.progress.progress import Progress
from islands.spec.resolve import layers, resolve

PROGRESS = Progress(10, 1000, 1.5, 90, 0, 9, 100.0)
MACHINE = Machine(2, "cpu", "2 x CPU, 1 thread", "no GPU found", "staged", 1.94)


def said(log: Path, *, quiet: bool) -> str:
    stream = StringIO()
    with Screen(stream, log, quiet=quiet) as screen:
        screen.say("HEAD\n")
        screen.show(PROGRESS)
        screen.end(PROGRESS, "END")
    return stream.getvalue()


def test_the_log_is_what_was_shown(tmp_path: Path) -> None:
    text = said(tmp_path / "log.txt", quiet=False)
    assert text.startswith("HEAD\n")
    assert text.endswith("\nEND\n")
    assert (tmp_path / "log.txt").read_text() == text


def test_quiet_shows_the_end_alone_and_logs_all(tmp_path: Path) -> None:
    assert said(tmp_path / "log.txt", quiet=True) == "END\n"
    assert (tmp_path / "log.txt").read_text() == said(tmp_path / "other.txt", quiet=False)


def test_a_log_is_gone_on_with_and_holds_notes_that_are_not_shown(tmp_path: Path) -> None:
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


def test_an_output_that_is_full_is_named(tmp_path: Path) -> None:
    class Full(StringIO):
        name = "<stdout>"

        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    with (
        pytest.raises(UnwritableError, match=r"^<stdout>: cannot be written: No space left"),
        Screen(Full(), tmp_path / "log.txt") as screen,
    ):
        screen.say("HEAD\n")


def test_names_that_are_not_utf8_are_logged_all_the_same(tmp_path: Path) -> None:
    with Screen(None, tmp_path / "log.txt") as screen:
        screen.say("caf\udce9")
    assert (tmp_path / "log.txt").read_text() == "caf\\udce9\n"


def test_a_screen_without_stream_and_log_is_silent() -> None:
    with Screen(None, None) as screen:
        screen.say("HEAD\n")
        screen.end(PROGRESS, "END")


def test_the_header_says_what_runs_how_where_and_until_when() -> None:
    problem = FakeProblem(BestKnown(200, "optimal", "a list"))
    problem.remarks = [Remark("stated", 190, "the file says best known 190")]
    spec = resolve(layers({"preset": "xavier2019", "seed": 7}), problem)
    assert opening("0.1.0", spec, problem, 2).split("\n") == [
        "islands 0.1.0   tsp fake/five, size 5, optimum 200",
        "the file says best known 190",
        "brkga on keys   3 islands x 256 on 2 ranks   seed 7   preset xavier2019",
        "stops at: 1000 generations",
    ]
    assert place(spec, MACHINE, Path("runs/a")).split("\n") == [
        "migration elite of 2 every 200 generations (transport: staged)",
        "2 x CPU, 1 thread   backend cpu: no GPU found",
        "kernels compiled in 1.9 s, and kept for the next time",
        "run folder runs/a",
    ]


def test_the_header_keeps_its_lines_whatever_the_instance_is_called() -> None:
    problem = FakeProblem()
    problem.instance = "a\nstops at: 5 seconds"
    spec = resolve(layers({"stop": "generations=5"}), problem)
    first, second, *_ = opening("0.1.0", spec, problem, 2).split("\n")
    assert first == "islands 0.1.0   tsp a\\nstops at: 5 seconds, size 5"
    assert second.startswith("brkga on keys")


def test_the_header_of_an_island_alone() -> None:
    spec = resolve(layers({"islands": 1, "stop": ["target=5", "seconds=2m"]}), FakeProblem())
    text = opening("0.1.0", spec, FakeProblem(), 2) + place(spec, MACHINE, None)
    assert "1 island x 256" in text
    assert "no migration" in text
    assert "stops at: cost 5, or 120 s" in text
    assert "run folder" not in text
