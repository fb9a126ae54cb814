"""Runs whose files fail, as on a network file system."""

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fakes import DeadError
from runs_for_tests import Honest, resumed, solved

from islands import inside
from islands.display.screen import Screen
from islands.inside import descriptor
from islands.record.folder import FINISHED, UNFINISHED

OPTIONS = {"stop": "generations=300", "checkpoint.every": "1e-9"}


@pytest.fixture(autouse=True)
def honest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("islands.engine.build.Archipelago", Honest)


def fail(patched: pytest.MonkeyPatch, method: str) -> list[str]:
    """Let a method of `Path` fail for streams; return their names."""
    original, failed = getattr(Path, method), list[str]()

    def failing(path: Path, *arguments: Any, **named: Any) -> Any:
        if path.name.endswith(UNFINISHED):
            failed.append(path.name)
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(path))
        return original(path, *arguments, **named)

    patched.setattr(Path, method, failing)
    return failed


def streams(folder: Path) -> list[str]:
    return [path.name for path in (folder / "trace").glob(f"*{UNFINISHED}")]


def test_a_stream_that_cannot_be_removed_does_not_end_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a"
    whole = solved(tmp_path / "whole", **OPTIONS)
    monkeypatch.setattr("islands.engine.build.Archipelago", partial(Honest, dies_at=150))
    with pytest.raises(DeadError):
        solved(folder, **OPTIONS)
    monkeypatch.setattr("islands.engine.build.Archipelago", Honest)
    with monkeypatch.context() as patched:
        failed = fail(patched, "unlink")
        assert resumed(folder).digest == whole.digest
    # The first start's stream is obsolete after two checkpoints of the second, and at the end.
    assert [name.split(".")[1] for name in failed].count("1") > 1
    assert (folder / FINISHED).exists()
    assert len(streams(folder)) == 2
    assert resumed(folder).digest == whole.digest
    assert not streams(folder)


def stale_streams(patched: pytest.MonkeyPatch) -> None:
    def failing(path: Path, flags: int) -> int:
        if path.name.endswith(UNFINISHED) and not flags & os.O_CREAT:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(path))
        return descriptor(path, flags)

    patched.setattr(inside, "descriptor", failing)


def unsynced_disk(patched: pytest.MonkeyPatch) -> None:
    def failing(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    patched.setattr(os, "fsync", failing)


def full_disk_at_the_log(patched: pytest.MonkeyPatch) -> None:
    def failing(screen: Screen, text: str) -> None:
        if text.startswith("*") and screen._log is not None:
            with screen._tolerating(is_log=True):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "log.txt")

    patched.setattr(Screen, "note", failing)


@pytest.mark.parametrize(
    ("breaks", "ends_early", "named"),
    [
        (stale_streams, False, "a run"),
        (unsynced_disk, True, UNFINISHED),
        (full_disk_at_the_log, True, "log.txt"),
    ],
)
def test_a_run_whose_files_fail_returns_its_result_and_can_be_resumed(
    breaks: Callable[[pytest.MonkeyPatch], None],
    ends_early: bool,
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "a run"
    whole = solved(tmp_path / "whole", **OPTIONS)
    with monkeypatch.context() as patched:
        breaks(patched)
        result = solved(folder, **OPTIONS)
    assert (result.cost, result.items()) == (whole.cost, whole.items())
    assert named in result.write_error
    assert (result.generations < 300) is ends_early
    assert not (folder / FINISHED).exists()
    again = resumed(folder)
    assert (again.generations, again.digest, again.write_error) == (300, whole.digest, "")
    assert (folder / FINISHED).exists()
