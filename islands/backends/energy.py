"""The energy of a GPU, which NVML measures; its package (nvidia-ml-py) is optional."""

from __future__ import annotations

from contextlib import suppress
from uuid import UUID


def joules(identity: str) -> float | None:
    """Return the energy that a GPU has used since its driver was loaded, or None if unknown.

    `identity` is CUDA's: the sixteen bytes of the UUID, hexadecimal.
    """
    try:
        import pynvml
    except ImportError:
        return None
    with suppress(pynvml.NVMLError):  # an old GPU, a part of a GPU, or no permission
        pynvml.nvmlInit()
        device = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{UUID(hex=identity)}")
        return float(pynvml.nvmlDeviceGetTotalEnergyConsumption(device)) / 1000
    return None
