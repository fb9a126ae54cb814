"""The longer messages about devices and compilers; each function returns the exception."""

from pathlib import Path

from islands.errors import CompileError, InputError, UsageError, system_reason
from islands.text import counted, option


def no_compiler() -> CompileError:
    return CompileError(
        "the CPU backend needs a C++ compiler, but there is no c++, g++ or clang++ on the PATH, and"
        " no ziglang in this Python. Install one, for example with: apt install g++, or without"
        " root: pip install ziglang"
    )


def unreadable_kernel(by: str, name: str, folder: Path, error: OSError) -> CompileError:
    """Return the error for a header in `folder`, included by `by`, that cannot be read."""
    return CompileError(
        f'{by or "a program"}: includes "{name}", but cannot read the kernel file {folder / name}:'
        f" {error.strerror}. A header of a script can only include headers of {folder}"
    )


def no_kernel(kernel: str) -> CompileError:
    return CompileError(
        f"the program has no kernel {kernel!r}. Write KERNEL({kernel}, ...) in a header, or"
        " correct the name in the launch"
    )


def other_parameters(kernel: str, expected: str, given: str) -> CompileError:
    return CompileError(
        f"the kernel {kernel} takes {expected}, but was given {given}(for each parameter: i"
        " integer, f float, P pointer or S struct, and its size in bytes). Change the kernel's"
        " parameters or the arguments"
    )


def too_little_shared_memory(kernel: str, needed: int, available: int) -> UsageError:
    return UsageError(
        f"{kernel} needs {needed} bytes of shared memory, but this GPU has {available}. Choose"
        " another algorithm or a smaller instance"
    )


def too_little_gpu_memory(total: int, needed: int) -> UsageError:
    return UsageError(
        f"the GPU's memory of {total / 2**30:.0f} GiB is too small: {needed / 2**30:.1f} GiB more"
        " are needed. Lower population or islands, or use more GPUs"
    )


def no_cupy(error: ImportError) -> UsageError:
    return UsageError(
        f"the CUDA backend needs CuPy ({error}). Install it with: pip install 'islands[cuda13]'"
        f" (or cuda12 for drivers before 580), or choose {option('backend', 'cpu')}"
    )


def no_cupy_cache(error: OSError, variable: str) -> InputError:
    """Return the error for a CuPy cache folder, named by `variable`, that cannot be created."""
    return InputError(
        f"CuPy cannot create its cache folder: {error.filename}: {system_reason(error)}."
        f" Set {variable} to a folder in which you may write"
    )


def no_visible_gpu(host: str, ranks: int) -> UsageError:
    return UsageError(
        f"host {host}: one of its {counted(ranks, 'rank')} sees no GPU. Check"
        f" CUDA_VISIBLE_DEVICES and nvidia-smi, or choose {option('backend', 'cpu')}"
    )


def too_few_gpus(host: str, gpus: int, ranks: int) -> UsageError:
    return UsageError(
        f"host {host} has {counted(gpus, 'GPU')} for {ranks} ranks, and one rank sees only GPUs"
        " that other ranks use. Start fewer ranks per host, set CUDA_VISIBLE_DEVICES to another"
        f" GPU for each rank, or pass {option('share_gpu', True)} or {option('backend', 'cpu')}"
    )
