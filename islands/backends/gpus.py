"""The GPUs that this process sees through CuPy, and the choice of a GPU for each rank.

This is the only module that imports CuPy, and only when it is needed.
"""

import os
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from ctypes import CDLL, byref, c_int, create_string_buffer
from itertools import chain
from threading import Thread
from typing import Any
from uuid import UUID

from islands.backends import messages
from islands.backends.cache import own_folder
from islands.errors import InputError, UsageError
from islands.text import option

_CUPY_CACHE = "CUPY_CACHE_DIR"
_DRIVER = "libcuda.so.1"
_STATIC = 2048  # maximum bytes of shared memory that kernels declare statically


def load_cupy() -> Any:
    """Import CuPy and return it; raise an error with a fix if this fails."""
    if "cupy" not in sys.modules and _CUPY_CACHE not in os.environ:
        # CuPy creates a cache folder for its kernels, by default in the home folder.
        with suppress(InputError):  # the default may work if our cache is read-only
            os.environ[_CUPY_CACHE] = str(own_folder("cupy"))
    if "cupy" not in sys.modules:
        # Importing CuPy and starting the driver take a tenth of a second each.
        Thread(target=_start_driver, daemon=True).start()
    try:
        import cupy
    except ImportError as error:
        raise messages.no_cupy(error) from None
    except OSError as error:
        variable = _CUPY_CACHE if _CUPY_CACHE in os.environ else "ISLANDS_CACHE"
        raise messages.no_cupy_cache(error, variable) from error
    return cupy


def _start_driver() -> None:
    with suppress(OSError):  # no driver: CuPy reports this
        CDLL(_DRIVER).cuInit(0)


def has_driver() -> bool:
    """Return whether this machine has NVIDIA's driver, without importing CuPy, which takes time."""
    try:
        CDLL(_DRIVER)
    except OSError:
        return False
    return True


def devices() -> int:
    """Return the number of GPUs that this process sees."""
    cupy = load_cupy()
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:
        return 0


def identities() -> list[str]:
    """Return a unique identity of each GPU that this process sees, in order."""
    return [identity_of(number) for number in range(devices())]


def identity_of(number: int) -> str:
    """Return the UUID of a GPU, or of a part of one (MIG), as 32 hexadecimal digits.

    It comes from the driver, as CuPy's copy ends at the first zero byte.
    """
    driver, device, uuid = CDLL(_DRIVER), c_int(), create_string_buffer(16)
    if status := (
        driver.cuInit(0)
        or driver.cuDeviceGet(byref(device), number)
        or driver.cuDeviceGetUuid_v2(uuid, device)
    ):
        raise UsageError(
            f"GPU {number}: the driver does not report its UUID (CUDA error {status}). Check"
            f" nvidia-smi, or choose {option('backend', 'cpu')}"
        )
    return uuid.raw.hex()


def shared_memory(number: int) -> int:
    """Return the maximum number of bytes of dynamic shared memory per block."""
    facts = load_cupy().cuda.runtime.getDeviceProperties(number)
    return int(facts["sharedMemPerBlockOptin"]) - _STATIC


def assigned(visible: Sequence[Sequence[str]], host: str, *, share: bool) -> list[int]:
    """Return the number of the GPU that each rank of a host uses, among those that it sees.

    `visible` contains the identities of the GPUs that each rank sees: all GPUs of the host, or
    those in CUDA_VISIBLE_DEVICES. Two ranks use the same GPU only with `share`.
    """
    taken: Counter[str] = Counter()
    numbers = [0] * len(visible)
    # Ranks that see the fewest GPUs choose first.
    for rank in sorted(range(len(visible)), key=lambda rank: len(visible[rank])):
        seen = visible[rank]
        if not seen:
            raise messages.no_visible_gpu(host, len(visible))
        number = min(range(len(seen)), key=lambda gpu: (taken[seen[gpu]], gpu))
        if taken[seen[number]] and not share:
            raise messages.too_few_gpus(host, len(set(chain(*visible))), len(visible))
        taken[seen[number]] += 1
        numbers[rank] = number
    return numbers


def joules(identity: str) -> float | None:
    """Return the energy that a GPU has used since its driver was loaded, or None if unknown."""
    try:
        import pynvml
    except ImportError:
        return None
    with suppress(pynvml.NVMLError):  # an old GPU, a part of a GPU, or no permission
        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{UUID(hex=identity)}")
        return float(pynvml.nvmlDeviceGetTotalEnergyConsumption(device)) / 1000
    return None
