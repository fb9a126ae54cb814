"""The record of a job's parts, and when a job makes no progress."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.errors import InputError
from islands.slurm.parts import Parts, Progress


def write_checkpoint(folder: Path, generation: int) -> None:
    place = folder / "checkpoints" / f"{generation:012}.1"
    place.mkdir(parents=True)
    (place / "manifest.json").touch()


def test_progress_is_that_of_the_latest_checkpoint(tmp_path: Path) -> None:
    assert str(Progress.of(tmp_path)) == "no checkpoint"
    for generation in (40, 120):
        write_checkpoint(tmp_path, generation)
    assert Progress.of(tmp_path).generation == 120


def test_parts_are_read_as_they_were_written(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    first = parts.end(parts.begin("5", ["demo/tsp"]), 75, "SIGUSR1")
    second = parts.begin("5", ["demo/tsp"])
    assert Parts(tmp_path).all() == [first, second]


@pytest.mark.parametrize(
    ("endings", "are_stuck"),
    [
        ([], False),
        ([(137, None, False)], False),
        ([(137, None, False), (137, None, False)], True),
        ([(137, None, True), (137, None, False)], False),
        ([(75, "SIGUSR1", False), (75, "SIGUSR1", False)], True),
        ([(75, "SIGTERM", False), (75, "SIGTERM", False)], False),  # ended by Slurm, too early
        ([(137, None, False), (137, None, False), (75, "SIGUSR1", True)], False),
    ],
)
def test_two_parts_without_a_new_checkpoint_are_stuck(
    tmp_path: Path, endings: list[tuple[int, str | None, bool]], are_stuck: bool
) -> None:
    parts = Parts(tmp_path)
    for number, (status, signal, progresses) in enumerate(endings, 1):
        part = parts.begin("5", ["demo/tsp"])
        if progresses:
            write_checkpoint(tmp_path, 100 * number)
        parts.end(part, status, signal)
    assert parts.are_stuck("5") is are_stuck


def test_parts_lost_with_their_node_are_stuck_too(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    parts.begin("5", ["demo/tsp"])
    parts.begin("5", ["demo/tsp"])
    assert parts.are_stuck("5")


def test_another_job_begins_anew(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    parts.begin("5", ["demo/tsp"])
    parts.begin("5", ["demo/tsp"])
    assert not parts.are_stuck("6")


def test_a_damaged_record_is_refused(tmp_path: Path) -> None:
    Parts(tmp_path).begin("5", ["demo/tsp"])
    with (tmp_path / "slurm/parts.jsonl").open("a") as stream:
        stream.write("{half a li\n")
    with pytest.raises(InputError, match="is damaged"):
        Parts(tmp_path).all()
