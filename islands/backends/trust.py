"""Whose programs are run: those of this user and of root, which nobody else can have written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from islands.errors import InputError

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def require_own(folder: Path) -> None:
    """Raise where others could have put a program into a folder, or could do so."""
    fault = distrust(folder)
    if fault:
        raise InputError(
            f"the cache folder {folder} {fault}, and programs that others may have put there are"
            " not run. Let ISLANDS_CACHE name a folder of your own that nobody else may write"
            " (chmod go-w)"
        )


def distrust(path: Path) -> str | None:
    """Return what speaks against running what is in a file or a folder."""
    # Whoever owns a link can let it lead elsewhere.
    for status in (path.lstat(), path.stat()):
        if status.st_uid not in (os.geteuid(), 0):
            return f"belongs to {_name(status.st_uid)}"
    # In a folder such as /tmp, nobody can remove or rename what belongs to others.
    if status.st_mode & _OTHERS_WRITE and not status.st_mode & stat.S_ISVTX:
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def _name(user: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(user).pw_name} (uid {user})"
    except KeyError:
        return f"uid {user}"
