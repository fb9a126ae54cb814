"""Compiled programs, kept under the digest of all that went into them and published by rename."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from islands.errors import CompileError
from islands.paths import cache_folder, published, writing

Loaded = TypeVar("Loaded")


def loaded(
    digest: str, suffix: str, make: Callable[[Path], None], load: Callable[[Path], Loaded]
) -> Loaded:
    """Return what `load` makes of the file kept under `digest`, which `make` writes if absent.

    The file's name ends in a checksum of its content, since a damaged program can end the process
    that loads it; such a file is made anew.
    """
    folder = cache_folder("programs")
    for path in folder.glob(f"{digest}-*{suffix}"):
        with suppress(FileNotFoundError):  # another process has just removed it
            if path.name == _name(digest, path, suffix):
                return _load(path, load)
            path.unlink()
    with writing(folder), TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / f"program{suffix}"
        make(made)
        if not made.is_file():
            raise CompileError("the compiler made nothing, and no error either. See to CXX")
        path = folder / _name(digest, made, suffix)
        made.replace(path)
    return _load(path, load)


def _name(digest: str, path: Path, suffix: str) -> str:
    return f"{digest}-{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}{suffix}"


def _load(path: Path, load: Callable[[Path], Loaded]) -> Loaded:
    try:
        return load(path)
    except Exception as error:
        path.unlink(missing_ok=True)
        raise CompileError(
            f"a program was compiled but cannot be loaded: {error}. If {path.parent} is on a file "
            "system that forbids programs, let ISLANDS_CACHE name a folder on another"
        ) from error


def refused(compiler: str, digest: str, log: str) -> CompileError:
    """Return the error for a program that does not compile: its first one, and where to read on."""
    path = cache_folder("programs") / f"{digest}.log"
    with published(path) as temporary:
        temporary.write_text(log, encoding="utf-8")
    lines = [line for line in log.splitlines() if line.strip()]
    first = next((line for line in lines if re.search(r"\berror\b", line)), "\n".join(lines[:1]))
    return CompileError(f"{compiler} refused a kernel: {first.strip()} (full log: {path})")
