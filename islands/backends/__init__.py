"""Where kernels run: on the CPU's threads or on a GPU, behind one contract."""

from __future__ import annotations

from importlib.util import find_spec

from islands.backends.base import Backend
from islands.errors import UsageError
from islands.text import counted, option, unknown

BACKENDS = ("auto", "cuda", "cpu")


def choose(
    name: str = "auto", threads: int | None = None, gpu: int = 0, sharers: int = 1
) -> Backend:
    """Return the backend of this name; `auto` takes a GPU where there is one, and says why.

    It takes the GPU of this number, or by default its part of the cores among so many sharers.
    """
    if name not in BACKENDS:
        raise UsageError(unknown("backend", name, BACKENDS))
    reason = "asked for"
    if name == "auto":
        name, reason = automatic()
    backend = _made(name, threads, gpu, sharers)
    backend.reason = reason
    return backend


def automatic() -> tuple[str, str]:
    """Return the backend that `auto` takes on this machine, and why."""
    if find_spec("cupy") is None:
        return "cpu", "CuPy is not installed"
    from islands.backends.cuda import devices

    found = devices()
    if found == 0:
        return "cpu", "no GPU found"
    return "cuda", f"{counted(found, 'GPU')} found"


def takes_gpu(name: str) -> bool:
    """Return whether the backend of this name will be a GPU on this machine."""
    return name == "cuda" or (name == "auto" and automatic()[0] == "cuda")


def _made(name: str, threads: int | None, gpu: int, sharers: int) -> Backend:
    if name == "cpu":
        from islands.backends.cpu import CpuBackend

        return CpuBackend(threads, sharers)
    from islands.backends.cuda import CudaBackend, devices

    if devices() == 0:
        cuda, cpu = option("backend", "cuda"), option("backend", "cpu")
        raise UsageError(f"{cuda}: no GPU found. Check nvidia-smi, or choose {cpu}")
    return CudaBackend(gpu)
