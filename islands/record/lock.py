"""One process at a time is at work in a folder: two would take each other's files away."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Self
from weakref import finalize

from islands.errors import InputError
from islands.paths import writing
from islands.record.folder import LOG

_PATIENCE_SECONDS = 5.0
"""How long a process that is being ended may take to leave."""
_HAS_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EINVAL)
"""What systems say of files that they cannot lock; NFS locks no folders."""


class FolderLock:
    """Locks the folder of a run, or of other work, from `take` to the end of its `with` block.

    The system unlocks it when the process ends in any way.
    """

    def __init__(self, work: str = "run", file: str = LOG) -> None:
        """Let messages call the work so; `file` in its folder, never replaced, is locked too."""
        self._work, self._file = work, file
        self._locks = ExitStack()
        # One that is dropped without a block lets go too, as files do.
        finalize(self, self._locks.close)
        self._has_taken = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._locks.close()
        self._has_taken = False

    def take(self, folder: Path) -> None:
        """Lock the folder, unless this is done; refuse one that another process has locked."""
        if not self.takes(folder, _PATIENCE_SECONDS):
            which = f"; {folder / LOG} names its host and pid" if self._file == LOG else ""
            raise InputError(
                f"{folder}: another process is at work on this {self._work}{which}. Wait until it"
                " ends, or end it"
            )

    def takes(self, folder: Path, patience: float = 0.0) -> bool:
        """Return whether the folder is locked now, for which another process may have to leave.

        The file in it is locked as well, where filesystems lock files, but no folders.
        """
        if self._has_taken:
            return True
        give_up_at = time.monotonic() + patience
        writes = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        for path, flags in ((folder, os.O_RDONLY), (folder / self._file, writes)):
            with writing(path):
                descriptor = os.open(path, flags, 0o666)
            self._locks.callback(os.close, descriptor)
            while not _is_locked(path, descriptor):
                if time.monotonic() >= give_up_at:
                    self._locks.close()
                    return False
                time.sleep(0.1)
        self._has_taken = True
        return True


def _is_locked(path: Path, descriptor: int) -> bool:
    """Lock an open file, unless another process has; return whether it is locked now."""
    with writing(path):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _HAS_NO_LOCKS:
                raise
    return True
