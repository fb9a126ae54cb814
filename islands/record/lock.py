"""Lock a folder, so that two processes cannot remove each other's files."""

import errno
import fcntl
import os
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self
from weakref import finalize

from islands.errors import InputError
from islands.inside import descriptor
from islands.paths import reading, writing
from islands.record.folder import LOG

_PATIENCE_SECONDS = 5.0
"""Time to wait for another process, which may be ending."""
_HAS_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EINVAL)
"""The errors of filesystems without locks or, like NFS, without locks for folders."""


class FolderLock:
    """Locks the folder of a run, or of other work, from `acquire` to the end of a `with` block.

    The operating system releases the lock when the process ends, even after a crash.
    """

    def __init__(self, work: str = "run", file: str = LOG) -> None:
        """Prepare to lock a folder by a `file` in it that is never replaced; errors name `work`."""
        self._work, self._file = work, file
        self._locks = ExitStack()
        # Release the lock even if the object is discarded without a `with` block.
        finalize(self, self._locks.close)
        self._is_held = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._locks.close()
        self._is_held = False

    def acquire(self, folder: Path) -> None:
        """Lock the folder if it is not locked yet; reject it if another process has locked it."""
        if not self.try_acquire(folder, _PATIENCE_SECONDS):
            which = f"; {folder / LOG} names its host and pid" if self._file == LOG else ""
            raise InputError(
                f"{folder}: another process is using this {self._work}{which}. Wait until it"
                " ends, or end it"
            )

    def try_acquire(self, folder: Path, patience: float = 0.0) -> bool:
        """Try to lock the folder for at most `patience` seconds; return whether this succeeded.

        The file is locked as well, as some filesystems can lock files but not folders.
        """
        if self._is_held:
            return True
        deadline = time.monotonic() + patience
        writes = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        file = folder / self._file
        for path, open_, flags in ((folder, os.open, os.O_RDONLY), (file, descriptor, writes)):
            with writing(path):
                opened = open_(path, flags)
                self._locks.callback(os.close, opened)
                while not _try_lock(opened, fcntl.LOCK_EX):
                    if time.monotonic() >= deadline:
                        self._locks.close()
                        return False
                    time.sleep(0.1)
        self._is_held = True
        return True


def is_locked(folder: Path, file: str = LOG) -> bool:
    """Return whether another process has locked a folder or its file, without changing them."""
    for path, open_ in ((folder, os.open), (folder / file, descriptor)):
        with reading(path), suppress(FileNotFoundError):
            opened = open_(path, os.O_RDONLY)
            try:
                if not _try_lock(opened, fcntl.LOCK_SH):
                    return True
            finally:
                os.close(opened)
    return False


def _try_lock(opened: int, how: int) -> bool:
    """Try to lock an open file; return whether no other process has locked it."""
    try:
        fcntl.flock(opened, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _HAS_NO_LOCKS:
            raise
    return True
