from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from islands.errors import InputError, UnwritableError
from islands.record import lock as module
from islands.record.lock import FolderLock


def test_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)
    with FolderLock() as first:
        first.take(tmp_path)
        for _ in range(2):
            with (
                FolderLock() as second,
                pytest.raises(InputError, match=r"another process is at work on this run; .*log\."),
            ):
                second.take(tmp_path)
    with FolderLock() as third:
        third.take(tmp_path)


def test_what_is_held_may_be_taken_again(tmp_path: Path) -> None:
    with FolderLock() as only:
        only.take(tmp_path)
        only.take(tmp_path)


def test_the_log_that_it_is_held_by_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("said before\n")
    with FolderLock() as only:
        only.take(tmp_path)
    assert (tmp_path / "log.txt").read_text() == "said before\n"


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    with (
        FolderLock() as only,
        pytest.raises(UnwritableError, match=r"a: cannot be written: No such "),
    ):
        only.take(tmp_path / "a")


def test_a_process_that_is_killed_lets_go(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from islands.record.lock import FolderLock\n"
        "with FolderLock() as lock:\n"
        "    lock.take(Path(sys.argv[1]))\n"
        "    print('held', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        os.kill(process.pid, 9)
        with FolderLock() as next_one:
            next_one.take(tmp_path)


def test_a_filesystem_without_locks_is_taken_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(module.fcntl, "flock", unsupported)
    with FolderLock() as first, FolderLock() as second:
        first.take(tmp_path)
        second.take(tmp_path)


def test_a_log_that_is_removed_does_not_unlock_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)
    with FolderLock() as first, FolderLock() as second:
        first.take(tmp_path)
        (tmp_path / "log.txt").unlink()
        with pytest.raises(InputError, match="another process is at work on this run"):
            second.take(tmp_path)


def test_where_folders_cannot_be_locked_the_log_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = module.fcntl.flock

    def of_files_alone(descriptor: int, operation: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(descriptor, operation)

    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(module.fcntl, "flock", of_files_alone)
    with FolderLock() as first, FolderLock() as second:
        first.take(tmp_path)
        with pytest.raises(InputError, match="another process is at work on this run"):
            second.take(tmp_path)


def test_what_else_keeps_a_folder_from_being_locked_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(module.fcntl, "flock", broken)
    with FolderLock() as only, pytest.raises(UnwritableError, match="Input/output error"):
        only.take(tmp_path)
