"""Backends: the devices that run kernels, a GPU or the threads of a CPU.

Both compile the same sources: NVRTC for a GPU, a C++ compiler for a CPU. `cuda.py` and `cpu.py`
implement the interface of `base.py`; only `gpus.py` imports CuPy, and only when it is needed.

- `Backend`: a device that allocates arrays, compiles programs and launches kernels.
- `Source`: the text of a program: an entry file, macros and included files.
- `IslandArrays`: the named arrays of a rank's islands, which can be saved and restored.

May import the basic modules only, such as `text`, `errors` and `settings`, but no problems.
"""

from importlib.util import find_spec

from islands.backends.base import Backend
from islands.errors import UsageError
from islands.text import counted, option, unknown

BACKENDS = ("auto", "cuda", "cpu")


def choose(
    name: str = "auto", threads: int | None = None, gpu: int = 0, sharers: int = 1
) -> Backend:
    """Return the backend with this name; `auto` is a GPU if there is one.

    `gpu` is the number of the GPU, and `threads` the number of CPU threads. `sharers` processes use
    the same device: free memory and, by default, cores are divided among them.
    """
    if name not in BACKENDS:
        raise UsageError(unknown("backend", name, BACKENDS))
    reason = "requested"
    if name == "auto":
        name, reason = automatic()
    backend = _create(name, threads, gpu, sharers)
    backend.reason = reason
    return backend


def automatic() -> tuple[str, str]:
    """Return the backend that `auto` chooses on this machine, and the reason."""
    if find_spec("cupy") is None:
        return "cpu", "CuPy is not installed"
    from islands.backends.gpus import devices, has_driver

    gpus = devices() if has_driver() else 0
    if gpus == 0:
        return "cpu", "no GPU found"
    return "cuda", f"{counted(gpus, 'GPU')} found"


def is_gpu(name: str) -> bool:
    """Return whether the backend with this name is a GPU on this machine."""
    return name == "cuda" or (name == "auto" and automatic()[0] == "cuda")


def _create(name: str, threads: int | None, gpu: int, sharers: int) -> Backend:
    if name == "cpu":
        from islands.backends.cpu import CpuBackend

        return CpuBackend(threads, sharers)
    from islands.backends.cuda import CudaBackend
    from islands.backends.gpus import devices

    if devices() == 0:
        cuda, cpu = option("backend", "cuda"), option("backend", "cpu")
        raise UsageError(f"{cuda}: no GPU found. Check nvidia-smi, or choose {cpu}")
    return CudaBackend(gpu, sharers)
