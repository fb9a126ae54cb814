"""Runs whose files fail, as on a network file system: what goes on, and what the error says."""

from __future__ import annotations

import errno
import os
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fakes import DeadError
from runs_for_tests import Honest, resumed, solved

from islands import inside
from islands.errors import RunError, UnwritableError
from islands.inside import descriptor
from islands.record.folder import FINISHED, UNFINISHED
from islands.run.runner import advising

OPTIONS = {"stop": "generations=300", "checkpoint.every": "1e-9"}


@pytest.fixture(autouse=True)
def honest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("islands.run.build.Archipelago", Honest)


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
    monkeypatch.setattr("islands.run.build.Archipelago", partial(Honest, dies_at=150))
    with pytest.raises(DeadError):
        solved(folder, **OPTIONS)
    monkeypatch.setattr("islands.run.build.Archipelago", Honest)
    with monkeypatch.context() as patched:
        failed = fail(patched, "unlink")
        assert resumed(folder).digest == whole.digest
    # The first start's stream is obsolete after two checkpoints of the second, and at the end.
    assert [name.split(".")[1] for name in failed].count("1") > 1
    assert (folder / FINISHED).exists()
    assert len(streams(folder)) == 2
    assert resumed(folder).digest == whole.digest
    assert not streams(folder)


def test_a_stream_that_cannot_be_opened_again_ends_with_the_command_that_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a run"

    def failing(path: Path, flags: int) -> int:
        if path.name.endswith(UNFINISHED) and not flags & os.O_CREAT:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(path))
        return descriptor(path, flags)

    with monkeypatch.context() as patched:
        patched.setattr(inside, "descriptor", failing)
        with pytest.raises(RunError) as caught:
            solved(folder, **OPTIONS)
    path = folder / "trace" / f"rank-000.1{UNFINISHED}"
    assert str(caught.value) == (
        f"{path}: Stale file handle. When this is repaired, continue the run with:"
        f" islands resume '{folder}'"
    )
    result = resumed(folder)
    assert (result.generations, result.reason) == (300, "300 generations done")


def test_a_disk_that_fails_ends_with_the_command_that_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", failing)
        words = r"arrows: cannot be written: Input/output error\. Make room there, or .*\. Then"
        words += rf" continue the run with: islands resume {re.escape(str(tmp_path / 'a'))}$"
        with pytest.raises(UnwritableError, match=words):
            solved(tmp_path / "a", **OPTIONS)
    assert resumed(tmp_path / "a").generations == 300


def test_without_a_folder_there_is_no_advice() -> None:
    with pytest.raises(UnwritableError, match=r"^full$"), advising(None):
        raise UnwritableError("full")
    with pytest.raises(OSError, match=r"^full$"), advising(None):
        raise OSError("full")


def test_a_reader_of_the_output_that_leaves_is_no_failure_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError, match=r"^left$"), advising(tmp_path):
        raise BrokenPipeError("left")
