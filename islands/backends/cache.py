"""The cache of compiled programs, with the digest of their source as the key."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from islands.backends.trust import distrust, require_own
from islands.errors import CompileError
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
    folder = own_folder("programs")
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


def own_folder(name: str) -> Path:
    """Return a folder of the cache into which no other user can have put programs."""
    root = cache_folder("")
    # Users who can write the cache itself could replace its folders.
    require_own(root, root)
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
