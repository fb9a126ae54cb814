"""Whose programs are run: those of this user and of root, which nobody else can have written."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from islands.errors import InputError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def require_own(root: Path, folder: Path) -> None:
    """Make a folder of the cache `root` safe to run programs from, or raise where that cannot be.

    A folder of this user that others may write, as a umask of 002 makes it, is taken from them.
    """
    status = folder.stat()
    if status.st_uid == os.geteuid() and distrust(folder):
        with suppress(OSError):  # whatever cannot be changed is refused below
            folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS_WRITE)
    if fault := distrust(folder):
        example = f", such as ISLANDS_CACHE={root}/$USER" if os.access(root, os.W_OK) else ""
        raise InputError(
            f"the cache folder {folder} {fault}, and programs that others may have put there are"
            " not run. Let ISLANDS_CACHE name a folder of your own that nobody else may write"
            f"{example}"
        )


def distrust(path: Path) -> str | None:
    """Return what speaks against running what is in a file or a folder."""
    target = path.stat()
    # Whoever owns a link can let it lead elsewhere.
    for status in (path.lstat(), target):
        if status.st_uid not in (os.geteuid(), 0):
            return f"belongs to {_name(status.st_uid)}"
    # In a folder such as /tmp, nobody can remove or rename what belongs to others.
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
