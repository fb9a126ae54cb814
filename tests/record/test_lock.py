from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from islands.errors import InputError
from islands.record import lock as module
from islands.record.lock import FolderLock


def test_one_process_at_a_time_locks_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)
    (tmp_path / "log.txt").write_text("said before\n")
    with FolderLock() as first:
        first.take(tmp_path)
        first.take(tmp_path)
        for _ in range(2):
            with FolderLock() as second, pytest.raises(InputError, match="another process"):
                second.take(tmp_path)
    assert (tmp_path / "log.txt").read_text() == "said before\n"
    with FolderLock() as third:
        third.take(tmp_path)


def test_a_killed_process_releases_the_lock(tmp_path: Path) -> None:
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


def test_a_filesystem_without_locks_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(module.fcntl, "flock", unsupported)
    with FolderLock() as first, FolderLock() as second:
        first.take(tmp_path)
        second.take(tmp_path)


def test_removing_the_log_does_not_unlock_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_SECONDS", 0.0)
    with FolderLock() as first, FolderLock() as second:
        first.take(tmp_path)
        (tmp_path / "log.txt").unlink()
        with pytest.raises(InputError, match="another process is using this run"):
            second.take(tmp_path)


def test_if_folders_cannot_be_locked_the_log_is(
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
        with pytest.raises(InputError, match="another process is using this run"):
            second.take(tmp_path)
