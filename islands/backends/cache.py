"""The cache of compiled programs; the key of a program is the digest of its source.

A program is trusted only if it belongs to this user or root, and no other user can write it.
"""

import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from threading import Lock
from typing import TypeVar

from islands.backends.source import Source
from islands.errors import CompileError, InputError, IslandsError
from islands.paths import CACHE_ELSEWHERE, cache_folder, publish, writing
from islands.text import show

Loaded = TypeVar("Loaded")


def loaded(
    digest: str, suffix: str, make: Callable[[Path], None], load: Callable[[Path], Loaded]
) -> Loaded:
    """Return the result of `load` for the file of `digest`, which `make` writes if it is missing.

    The file contains the digest, and its name ends in a checksum of its content, as a damaged
    program can crash the process that loads it. A file that is damaged, not trusted or of another
    program is replaced.
    """
    with _locks.setdefault(digest, Lock()):
        return _loaded(digest, suffix, make, load)


_locks: dict[str, Lock] = {}
"""A lock for each program, so that only one of the threads that need it compiles it."""


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
        path = Path(scratch) / f"program{suffix}"
        make(path)
        path.chmod(0o600)
        try:
            program = load(path)
        except Exception as error:
            raise CompileError(
                f"a program was compiled but cannot be loaded: {error}. If {folder} is on a file"
                " system mounted with noexec, set ISLANDS_CACHE to a folder on another one"
            ) from error
        path.replace(folder / _name(digest, path.read_bytes(), suffix))
        return program


def _folder_of(digest: str) -> Path:
    """Return the folder of a program: one of many, so that listing it before each load is fast."""
    own_folder("programs")
    return own_folder(f"programs/{digest[:2]}")


def own_folder(name: str) -> Path:
    """Return a folder of the cache that only this user can write to."""
    root = cache_folder("")
    # Users who can write to the cache itself, or to a folder above it, could replace its folders.
    require_own(root, root)
    for above in dict.fromkeys([*root.absolute().parents, *root.resolve().parents]):
        status = above.stat()
        if fault := _writable(status, _OTHERS_WRITE & ~_own_group(status)):
            raise _unsafe(f"{root} is below {above}, which {fault}")
    folder = cache_folder(name)
    require_own(root, folder)
    return folder


def _is_sound(path: Path, digest: str, suffix: str) -> bool:
    """Return whether a file is an undamaged, trusted program; warn if it is not trusted."""
    fault = distrust(path)
    if fault:
        words = f"the program {path} {fault}: it is not run but compiled again"
        show(f"islands: {words}", file=sys.stderr)
        return False
    content = path.read_bytes()
    return path.name == _name(digest, content, suffix) and digest.encode() in content


def _name(digest: str, content: bytes, suffix: str) -> str:
    return f"{digest}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"


_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def require_own(root: Path, folder: Path) -> None:
    """Make a folder of the cache `root` safe to run programs from; reject it if that fails.

    If others may write to a folder of this user, as with umask 002, this permission is removed.
    """
    status = folder.stat()
    if status.st_uid == os.geteuid() and distrust(folder):
        with suppress(OSError):  # a failure is reported below
            folder.chmod(stat.S_IMODE(status.st_mode) & ~_OTHERS_WRITE)
    if fault := distrust(folder):
        example = f", such as ISLANDS_CACHE={root}/$USER" if os.access(root, os.W_OK) else ""
        raise _unsafe(f"{folder} {fault}", example)


def _unsafe(words: str, example: str = "") -> InputError:
    return InputError(
        f"the cache folder {words}, and programs that others may have put there are not run. Set"
        f" ISLANDS_CACHE to a folder that only you can write to{example}"
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
    """Return a message if any permission bits `others` are set, unless a folder is sticky."""
    # In a folder such as /tmp, users cannot remove or rename the files of others.
    is_sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
    if status.st_mode & others and not is_sticky:
        return f"can be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    return None


def _own_group(status: os.stat_result) -> int:
    """Return the write bit of the group if only this user is in it, as is usual with umask 002."""
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


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a temporary folder; system errors inside the block are reported for this folder."""
    fix = "set TMPDIR to a folder in which you may write"
    with writing("temporary files", fix):
        place = gettempdir()
    with writing(place, fix), TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def version_of(*command: str) -> str:
    """Return the version that a command prints, such as `g++ --version`."""
    return _output_of(command, Path(command[0]).stat().st_mtime_ns)


@cache
def _output_of(command: tuple[str, ...], changed: int) -> str:
    """Return what a command prints; `changed`, the mtime of its program, is a cache key."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    return done.stdout.decode(errors="replace")


class Compiling:
    """Announces the compilations of a run once, and keeps their durations for estimates."""

    def __init__(self, compiler: str, how: str = "") -> None:
        """Keep the durations of this compiler; `how` is added to the message."""
        self.announce: Callable[[str], None] | None = None
        """Called with the message; None for no message."""
        self.was_needed = False
        """Whether a program of this run was not in the cache."""
        self._name, self._how = f"compile-seconds-{compiler}.json", how
        self._expected: tuple[str, Source] | None = None
        self._begun: set[str] = set()
        self._is_announced = False
        self._lock = Lock()

    def expect(self, kind: str, source: Source) -> None:
        """Expect the largest program of a run; programs of one `kind` take about the same time."""
        self._expected = kind, source
        self._begun.clear()

    def begin(self, source: Source) -> None:
        """Announce the first compilation of a run; any thread may call this."""
        with self._lock:
            self.was_needed = True
            self._begun.add(source.entry)
            if self.announce is not None and not self._is_announced:
                self._is_announced = True
                seconds = self._estimate()
                about = "" if seconds is None else f"about {max(1, round(seconds))} s, "
                self.announce(f"compiling the kernels{self._how} ({about}once)")

    def begin_run(self) -> None:
        """Prepare to announce the compilations of another run."""
        self._is_announced = self.was_needed = False

    def record(self, seconds: float) -> None:
        """Save the duration, if the expected program was compiled."""
        if self._expected is None or self._expected[1].entry not in self._begun:
            return
        kind, source = self._expected
        kinds = self._durations()
        kinds.pop(kind, None)
        # The last entry serves as an estimate for new kinds.
        kinds = dict([*kinds.items(), (kind, (seconds, source.size()))][-_MOST_KINDS:])
        with suppress(IslandsError, OSError):  # it is only an estimate
            publish(cache_folder("") / self._name, json.dumps(kinds))

    def _estimate(self) -> float | None:
        """Return the estimated seconds for the expected program, or None.

        For a new kind, the seconds of the last kind are multiplied by the square of the ratio of
        the sizes: on one core, 140 kB took 1.1 s, and 250 kB took 3.1 to 6.1 s.
        """
        kinds = self._durations()
        if self._expected is None or not kinds:
            return None
        kind, source = self._expected
        if kind in kinds:
            return kinds[kind][0]
        seconds, size = list(kinds.values())[-1]
        return seconds * (source.size() / size) ** 2

    def _durations(self) -> dict[str, tuple[float, int]]:
        """Return the last duration and the size in bytes of each kind, the newest last."""
        try:
            content = json.loads((cache_folder("") / self._name).read_text(encoding="utf-8"))
            kinds = {str(name): (float(took), int(size)) for name, (took, size) in content.items()}
        except (IslandsError, OSError, ValueError, TypeError, AttributeError, OverflowError):
            return {}
        is_valid = all(0 <= took < _LONGEST and size > 0 for took, size in kinds.values())
        return kinds if is_valid else {}


_MOST_KINDS = 64
_LONGEST = 1e5  # seconds
