"""Find the C++ compiler of the CPU backend."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
from pathlib import Path

from islands.backends import zig
from islands.errors import CompileError, UsageError, system_reason


def compiler() -> tuple[list[str], str]:
    """Return the command and version of the C++ compiler: from `CXX`, the system, or Zig."""
    wanted = os.environ.get("CXX", "").strip()
    if wanted:
        return _wanted(wanted)
    for name in ("c++", "g++", "clang++"):
        if path := shutil.which(name):
            return [path], _version([path])
    if command := zig.command():
        return command, zig.version()
    raise CompileError(
        "the CPU backend needs a C++ compiler, but there is no c++, g++ or clang++ on the PATH, and"
        " no ziglang in this Python. Install one, for example with: apt install g++, or without"
        " root: pip install ziglang"
    )


def _wanted(wanted: str) -> tuple[list[str], str]:
    """Return the command in `CXX`, split as by a shell, and its version."""
    try:
        name, *options = shlex.split(wanted) or [""]
        if path := shutil.which(name):
            return [path, *options], _version([path, *options])
        where = "a program" if os.sep in name else "on the PATH"
        fault = f"{name} is not {where}" if name else "no command"
    except ValueError as error:
        fault = str(error)
    except OSError as error:
        fault = system_reason(error)
    raise UsageError(
        f"CXX={wanted}: {fault}. Let CXX name a C++ compiler, such as g++, or unset it"
    )


def _version(command: list[str]) -> str:
    changed = Path(command[0]).stat().st_mtime_ns
    return _version_of(tuple(command), changed)


@functools.cache
def _version_of(command: tuple[str, ...], changed: int) -> str:
    """Return what a compiler says of itself; `changed` is the time of its last change."""
    return subprocess.run([*command, "--version"], capture_output=True, text=True).stdout
