"""The C++ compiler of Zig, from PyPI's `ziglang`, for machines without another compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from islands.backends.cache import own_folder
from islands.backends.compile_notice import Compiling
from islands.errors import IslandsError

_CACHE = "ZIG_GLOBAL_CACHE_DIR"
_RUNTIME = "o/*/libcompiler_rt.a"
"""The runtime in Zig's cache, which Zig builds before its first program."""
_USUAL_SECONDS = 5.0
_FIRST_SECONDS = 20.0


def command() -> list[str] | None:
    """Return the command that compiles C++, if `ziglang` is installed."""
    found = find_spec("ziglang")
    if found is None or found.origin is None:
        return None
    # Not `python -m ziglang`, which takes the time to start Python.
    zig = Path(found.origin).with_name("zig")
    return [str(zig), "c++"] if os.access(zig, os.X_OK) else None


def links(object_file: Path, options: Iterable[str], path: Path) -> Iterator[list[str]]:
    """Yield the commands that link a program, the next for when one fails.

    The first is for C, since Zig builds the whole library of C++ before it links its first program
    with it. Only headers of users that need the library come to the second.
    """
    zig, *_ = command() or ["zig"]
    kept = [word for word in options if word == "-shared" or word.startswith("-fsanitize")]
    for language in ("cc", "c++"):
        yield [zig, language, "-O3", *kept, "-Wl,-z,defs", str(object_file), "-o", str(path)]


def version() -> str:
    """Return the version of Zig, which also identifies its clang."""
    found = command() or ["zig"]
    output = subprocess.run([found[0], "version"], capture_output=True, text=True).stdout
    return f"Zig {output.strip()}"


def environment() -> dict[str, str]:
    """Return the environment for Zig, which keeps its own files in our cache."""
    return {**os.environ, _CACHE: str(_folder())}


def compiling() -> Compiling:
    """Return the announcement for Zig, which takes longer until it has built its runtime."""
    with suppress(IslandsError, OSError):  # the compilation reports errors in the cache
        if any(_folder().glob(_RUNTIME)):
            return Compiling("zig", _USUAL_SECONDS, " with Zig")
    first = Compiling("zig-first", _FIRST_SECONDS, " with Zig, which first builds its runtime")
    # This takes too long without a message, even if no run has a screen to show it.
    first.tell = lambda words: print(f"islands: {words}", file=sys.stderr, flush=True)
    return first


def _folder() -> Path:
    chosen = os.environ.get(_CACHE)
    return Path(chosen) if chosen else own_folder(version().lower().replace(" ", "-"))
