"""The C++ compiler of Zig, from PyPI's `ziglang`: for machines that have none of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from islands.backends.cache import own_folder
from islands.backends.compiling import Compiling
from islands.errors import IslandsError

_CACHE = "ZIG_GLOBAL_CACHE_DIR"
_RUNTIME = "o/*/libc++.a"
"""What Zig builds before its first program, in the folder of its cache."""
_USUAL_SECONDS = 5.0
_FIRST_SECONDS = 60.0


def command() -> list[str] | None:
    """Return the command that compiles C++, if `ziglang` is installed."""
    found = find_spec("ziglang")
    if found is None or found.origin is None:
        return None
    # Not `python -m ziglang`, which takes the time to start Python.
    zig = Path(found.origin).with_name("zig")
    return [str(zig), "c++"] if os.access(zig, os.X_OK) else None


def version() -> str:
    """Return the version of Zig, which is that of its clang too."""
    found = command() or ["zig"]
    said = subprocess.run([found[0], "version"], capture_output=True, text=True).stdout
    return f"Zig {said.strip()}"


def environment() -> dict[str, str]:
    """Return the environment that Zig runs in; what it builds for itself is kept in our cache."""
    return {**os.environ, _CACHE: str(_folder())}


def compiling() -> Compiling:
    """Return what to say of compiling, which takes longer where Zig has not built its runtime."""
    with suppress(IslandsError, OSError):  # compiling itself says what is wrong with the cache
        if any(_folder().glob(_RUNTIME)):
            return Compiling("zig", _USUAL_SECONDS, " with Zig")
    first = Compiling("zig-first", _FIRST_SECONDS, " with Zig, which first builds its C++ runtime")
    # Too long to be silent, also where no run has a screen to say it on.
    first.tell = lambda words: print(f"islands: {words}", file=sys.stderr, flush=True)
    return first


def _folder() -> Path:
    chosen = os.environ.get(_CACHE)
    return Path(chosen) if chosen else own_folder(version().lower().replace(" ", "-"))
