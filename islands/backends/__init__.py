"""Where kernels run: on the CPU's threads or on a GPU, behind one contract."""

from __future__ import annotations

from importlib.util import find_spec

from islands.backends.base import Backend
from islands.errors import UsageError
from islands.text import unknown

BACKENDS = ("auto", "cuda", "cpu")


def choose(
    name: str = "auto", threads: int | None = None, local_rank: int = 0, local_size: int = 1
) -> Backend:
    """Return the backend of this name; `auto` takes a GPU where there is one, and says why.

    `local_rank` of the `local_size` ranks on this host takes a GPU, or a share of the cores.
    """
    if name not in BACKENDS:
        raise UsageError(unknown("backend", name, BACKENDS))
    reason = "asked for"
    if name == "auto":
        name, reason = automatic()
    backend = _made(name, threads, local_rank, local_size)
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
    return "cuda", f"{found} GPU{'s' if found > 1 else ''} found"


def _made(name: str, threads: int | None, local_rank: int, local_size: int) -> Backend:
    if name == "cpu":
        from islands.backends.cpu import CpuBackend

        return CpuBackend(threads, local_size)
    from islands.backends.cuda import CudaBackend, devices

    if devices() == 0:
        raise UsageError("--backend cuda: no GPU found. Check nvidia-smi, or choose --backend cpu")
    return CudaBackend(local_rank)
