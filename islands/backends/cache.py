"""Compiled programs, kept under the digest of all that went into them and published by rename."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from islands.errors import CompileError
from islands.paths import cache_folder, published


def cached(digest: str, suffix: str, make: Callable[[Path], None]) -> Path:
    """Return the file kept under `digest`; where there is none yet, `make` writes it."""
    path = cache_folder("programs") / f"{digest}{suffix}"
    if not path.exists():
        with published(path) as temporary:
            make(temporary)
    return path


def refused(compiler: str, digest: str, log: str) -> CompileError:
    """Return the error for a program that does not compile: its first one, and where to read on."""
    path = cache_folder("programs") / f"{digest}.log"
    with published(path) as temporary:
        temporary.write_text(log, encoding="utf-8")
    lines = [line for line in log.splitlines() if line.strip()]
    first = next((line for line in lines if re.search(r"\berror\b", line)), "\n".join(lines[:1]))
    return CompileError(f"{compiler} refused a kernel: {first.strip()} (full log: {path})")
