"""Compiled programs, kept under the digest of all that went into them and published by rename."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from islands.backends.trust import distrust, require_own
from islands.errors import CompileError
from islands.paths import CACHE_ELSEWHERE, cache_folder, published, writing

Loaded = TypeVar("Loaded")


def loaded(
    digest: str, suffix: str, make: Callable[[Path], None], load: Callable[[Path], Loaded]
) -> Loaded:
    """Return what `load` makes of the file kept under `digest`, which `make` writes if absent.

    The file holds the digest, and its name ends in a checksum of its content, since a damaged
    program can end the process that loads it. What is damaged, of another origin, or not to be
    trusted is made anew.
    """
    folder = own_folder("programs")
    for path in folder.glob(f"{digest}-*{suffix}"):
        with suppress(OSError):  # another process has just removed it, or it cannot be read
            if _is_sound(path, digest, suffix):
                with suppress(Exception):  # whatever a backend raises of a file it cannot load
                    return load(path)
            path.unlink()
    with writing(folder, CACHE_ELSEWHERE), TemporaryDirectory(dir=folder) as scratch:
        made = Path(scratch) / f"program{suffix}"
        make(made)
        if not made.is_file():
            raise CompileError("the compiler made nothing, and no error either. See to CXX")
        made.chmod(0o600)
        try:
            program = load(made)
        except Exception as error:
            raise CompileError(
                f"a program was compiled but cannot be loaded: {error}. If {folder} is on a file "
                "system that forbids programs, let ISLANDS_CACHE name a folder on another"
            ) from error
        made.replace(folder / _name(digest, made.read_bytes(), suffix))
        return program


def own_folder(name: str) -> Path:
    """Return a folder of the cache that nobody else can have put programs into."""
    root = cache_folder("")
    # Whoever may write the cache itself could put another folder there.
    require_own(root, root)
    folder = cache_folder(name)
    require_own(root, folder)
    return folder


def _is_sound(path: Path, digest: str, suffix: str) -> bool:
    """Return whether a file is the program of this digest, and may be run; say if it may not."""
    fault = distrust(path)
    if fault:
        words = f"the program {path} {fault}: it is not run, but made anew"
        print(f"islands: {words}", file=sys.stderr, flush=True)
        return False
    content = path.read_bytes()
    return path.name == _name(digest, content, suffix) and digest.encode() in content


def _name(digest: str, content: bytes, suffix: str) -> str:
    return f"{digest}-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"


def refused(compiler: str, digest: str, log: str, own: Collection[str]) -> CompileError:
    """Return the error for a program that does not compile: its first one, and where to read on.

    The first one in `own`, the headers of scripts, says more than one in what includes them.
    """
    path = cache_folder("programs") / f"{digest}.log"
    with published(path, CACHE_ELSEWHERE) as temporary:
        temporary.write_text(log, encoding="utf-8")
    lines = [line for line in log.splitlines() if line.strip()]
    errors = [line.strip() for line in lines if re.search(r"\berror\b", line)] or lines[:1]
    places = tuple(f"{name}{mark}" for name in own for mark in ":(")
    said = next((line for line in errors if line.startswith(places)), "")
    if not said:
        said = "".join(errors[:1])
        if own:
            said += f"; see that {', '.join(own)} has all that built-in headers of its kind have"
    return CompileError(f"{compiler} refused a kernel: {said} (full log: {path})")
