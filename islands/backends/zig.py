"""The C++ compiler of Zig, from PyPI's `ziglang`, for machines without another compiler."""

import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from islands.backends.cache import Compiling, own_folder, version_of
from islands.errors import IslandsError
from islands.text import show

_CACHE = "ZIG_GLOBAL_CACHE_DIR"
_RUNTIME = "o/*/libcompiler_rt.a"
"""The runtime in Zig's cache, which Zig builds before its first program."""
_LIBRARY = "o/*/libc++.a"
_OF_LIBRARY = re.compile(r"undefined.*(std::|operator new|operator delete|__cxa_|__gxx_|\b_Z)")


def command() -> list[str] | None:
    """Return the command that compiles C++, if `ziglang` is installed."""
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        return None
    # Not `python -m ziglang`, which would start Python first.
    zig = Path(spec.origin).with_name("zig")
    return [str(zig), "c++"] if os.access(zig, os.X_OK) else None


def link(
    zig: str, objects: Iterable[Path], options: Iterable[str], path: Path, *, library: bool = False
) -> list[str]:
    """Return the command that links a program, with or without the C++ library.

    Our programs do not need this library, which Zig builds before it is first linked.
    """
    kept = [word for word in options if word == "-shared" or word.startswith("-fsanitize")]
    # Without -O3, Zig takes five times as long to build its runtime. With -z,defs, missing symbols
    # are errors here, not only when the program is loaded. Without the last option, Zig removes the
    # digest, which nothing refers to, and the cache rejects programs without their digest.
    kept += ["-O3", "-Wl,-z,defs", "-Wl,--no-gc-sections"]
    return [zig, "c++" if library else "cc", *kept, *map(str, objects), "-o", str(path)]


def needs_library(log: str) -> bool:
    """Return whether a program needs the C++ library, as users' headers may; announce its build."""
    if not _OF_LIBRARY.search(log):
        return False
    if not any(_folder().glob(_LIBRARY)):
        words = "linking with the C++ library, which Zig first builds (about 80 s, once)"
        show(f"islands: {words}", file=sys.stderr)
    return True


def version() -> str:
    """Return the version of Zig, which also identifies its clang."""
    zig, *_ = command() or [""]
    return f"Zig {version_of(zig, 'version').strip()}" if zig else "Zig"


def environment() -> dict[str, str]:
    """Return the environment in which Zig keeps its files in our cache."""
    return {**os.environ, _CACHE: str(_folder())}


def compiling() -> Compiling:
    """Return a `Compiling` for Zig, which takes longer until Zig has built its runtime."""
    with suppress(IslandsError, OSError):  # the compilation reports errors in the cache
        if any(_folder().glob(_RUNTIME)):
            return Compiling("zig", " with Zig")
    first = Compiling("zig-first", " with Zig, which first builds its runtime")
    # This takes so long that it needs a message, even if no run has a screen to show it.
    first.announce = lambda words: show(f"islands: {words}", file=sys.stderr)
    return first


def _folder() -> Path:
    chosen = os.environ.get(_CACHE)
    return Path(chosen) if chosen else own_folder(version().lower().replace(" ", "-"))
