"""Compiled programs, kept under the digest of all that went into them and published by rename."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from islands.errors import CompileError
from islands.paths import cache_folder, published

Loaded = TypeVar("Loaded")


def loaded(
    digest: str, suffix: str, make: Callable[[Path], None], load: Callable[[Path], Loaded]
) -> Loaded:
    """Return what `load` makes of the file kept under `digest`, which `make` writes if absent.

    A file that does not load, such as one that was cut off, is made once more.
    """
    path = cache_folder("programs") / f"{digest}{suffix}"
    if path.exists():
        with suppress(Exception):  # whatever is wrong with it, it is made anew and loaded below
            return load(path)
    with published(path) as temporary:
        make(temporary)
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
