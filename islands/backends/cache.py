"""The cache of compiled programs, with the digest of their source as the key.

Only programs of this user or root that no other user can write are trusted.
"""

from __future__ import annotations

import hashlib
import math
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TypeVar

from islands.errors import CompileError, InputError
from islands.paths import CACHE_ELSEWHERE, cache_folder, writing
from islands.text import show

Loaded = TypeVar("Loaded")


def loaded(
    digest: str, suffix: str, make: Callable[[Path], None], load: Callable[[Path], Loaded]
) -> Loaded:
    """Return what `load` makes of the file for `digest`, which `make` writes if there is none.

    The file contains the digest, and its name ends in a checksum of its content, because a damaged
    program can crash the process that loads it. A file that is damaged, belongs to another program
    or cannot be trusted is replaced.
    """
    with _locks.setdefault(digest, Lock()):
        return _loaded(digest, suffix, make, load)


_locks: dict[str, Lock] = {}
"""One for each program: a thread waits until another one has compiled the same."""


def _loaded(
    digest: str, suffix: str, make: Callable[[Path], None], load: Callable[[Path], Loaded]
) -> Loaded:
    folder = _folder_of(digest)
    for path in folder.glob(f"{digest}-*{suffix}"):
        with suppress(OSError):  # another process has just removed it, or it is unreadable
            if _is_sound(path, digest, suffix):
                with suppress(Exception):  # any error of a backend that cannot load the file
                    return load(path)
            path.unlink()
    with writing(folder, CACHE_ELSEWHERE), TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / f"program{suffix}"
        make(made)
        made.chmod(0o600)
        try:
            program = load(made)
        except Exception as error:
            raise CompileError(
                f"a program was compiled but cannot be loaded: {error}. If {folder} is on a file"
                " system that forbids programs, set ISLANDS_CACHE to a folder on another one"
            ) from error
        made.replace(folder / _name(digest, made.read_bytes(), suffix))
        return program


def _folder_of(digest: str) -> Path:
    """Return the folder of a program: one with few files, as it is listed before each load."""
    own_folder("programs")
    return own_folder(f"programs/{digest[:2]}")


def own_folder(name: str) -> Path:
    """Return a folder of the cache into which no other user can have put programs."""
    root = cache_folder("")
    # Users who can write the cache itself, or a folder above it, could replace its folders.
    require_own(root, root)
    for above in dict.fromkeys([*root.absolute().parents, *root.resolve().parents]):
        status = above.stat()
        if fault := _writable(status, _OTHERS_WRITE & ~_own_group(status)):
            raise _unsafe(f"{root} is below {above}, which {fault}")
    folder = cache_folder(name)
    require_own(root, folder)
    return folder


def _is_sound(path: Path, digest: str, suffix: str) -> bool:
    """Return whether a file is an undamaged, trusted program; print a warning about distrust."""
    fault = distrust(path)
    if fault:
        words = f"the program {path} {fault}: it is replaced, not run"
        show(f"islands: {words}", file=sys.stderr)
        return False
    content = path.read_bytes()
    return path.name == _name(digest, content, suffix) and digest.encode() in content


def _name(digest: str, content: bytes, suffix: str) -> str:
    return f"{digest}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"


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
        raise _unsafe(f"{folder} {fault}", example)


def _unsafe(words: str, example: str = "") -> InputError:
    return InputError(
        f"the cache folder {words}, and programs that others may have put there are not run. Let"
        f" ISLANDS_CACHE name a folder of your own that nobody else may write{example}"
    )


def distrust(path: Path) -> str | None:
    """Return why programs in a file or folder are not trusted, or None."""
    target = path.stat()
    # The owner of a link can change its target.
    for status in (path.lstat(), target):
        if status.st_uid not in (os.geteuid(), 0):
            return f"belongs to {_name_of(status.st_uid)}"
    return _writable(target, _OTHERS_WRITE)


def _writable(status: os.stat_result, others: int) -> str | None:
    """Return that others, by their bits, can write a file or a folder; None if they cannot."""
    # In a folder such as /tmp, users cannot remove or rename the files of others.
    is_sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    if status.st_mode & others and not is_sticky:
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def _own_group(status: os.stat_result) -> int:
    """Return the bit of the group of a folder if only this user is in it, as with umask 002."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(status.st_gid)
    except KeyError:
        return 0
    return stat.S_IWGRP if group.gr_name == user and {*group.gr_mem} <= {user} else 0


def _name_of(user: int) -> str:
    import pwd

    try:
        return f"{pwd.getpwuid(user).pw_name} (uid {user})"
    except KeyError:
        return f"uid {user}"


class Compiling:
    """Announces the compilations of a run once, and keeps their duration as the next estimate."""

    def __init__(self, backend: str, usual_seconds: float, how: str = "") -> None:
        """Estimate `usual_seconds` until the first measurement; `how` is added to the message."""
        self.tell: Callable[[str], None] | None = None
        """Receives the message; None: nobody is told."""
        self.was_needed = False
        """Whether a program of this run was compiled, not loaded from the cache."""
        self._backend, self._usual, self._how = backend, usual_seconds, how
        self._is_announced = self._has_begun = False
        self._lock = Lock()

    def begin(self) -> None:
        """Announce that a program is compiled, only the first time; from any thread."""
        with self._lock:
            self._has_begun = self.was_needed = True
            if self.tell is not None and not self._is_announced:
                self._is_announced = True
                seconds = max(1, round(self._about()))
                self.tell(f"compiling the kernels{self._how} (about {seconds} s, once)")

    def begin_run(self) -> None:
        """Announce the compilations of another run."""
        self._is_announced = self.was_needed = False

    def took(self, seconds: float) -> None:
        """Save the duration, if there was anything to compile."""
        if self._has_begun:
            self._has_begun = False
            with suppress(InputError, OSError):  # it is only an estimate
                (cache_folder("") / self._name()).write_text(f"{seconds:.1f}\n", encoding="utf-8")

    def _about(self) -> float:
        try:
            seconds = float((cache_folder("") / self._name()).read_text(encoding="utf-8"))
        except (InputError, OSError, ValueError):
            return self._usual
        return seconds if math.isfinite(seconds) else self._usual

    def _name(self) -> str:
        return f"compile-seconds-{self._backend}"
