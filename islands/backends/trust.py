"""Which programs are trusted: those of this user or root that no other user can write."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from islands.errors import InputError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def require_own(root: Path, folder: Path) -> None:
    """Make a folder of the cache `root` safe to run programs from; refuse it if that fails.

    If others may write a folder of this user, as with a umask of 002, this permission is removed.
    """
    status = folder.stat()
    if status.st_uid == os.geteuid() and distrust(folder):
        with suppress(OSError):  # a failure is refused below
            folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS_WRITE)
    if fault := distrust(folder):
        example = f", such as ISLANDS_CACHE={root}/$USER" if os.access(root, os.W_OK) else ""
        raise InputError(
            f"the cache folder {folder} {fault}, and programs that others may have put there are"
            " not run. Let ISLANDS_CACHE name a folder of your own that nobody else may write"
            f"{example}"
        )


def distrust(path: Path) -> str | None:
    """Return why programs in a file or folder are not trusted, or None."""
    target = path.stat()
    # The owner of a link can change its target.
    for status in (path.lstat(), target):
        if status.st_uid not in (os.geteuid(), 0):
            return f"belongs to {_name(status.st_uid)}"
    # In a folder such as /tmp, users cannot remove or rename the files of others.
    is_sticky = stat.S_ISDIR(target.st_mode) and target.st_mode & stat.S_ISVTX
    if target.st_mode & _OTHERS_WRITE and not is_sticky:
        return f"can be written by others (mode {stat.S_IMODE(target.st_mode):o})"
    return None


def _name(user: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(user).pw_name} (uid {user})"
    except KeyError:
        return f"uid {user}"
