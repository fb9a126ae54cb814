"""GPUs of this host as reported by nvidia-smi; needs no CuPy."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

_FIELDS = ("index", "uuid", "name", "memory.total", "driver_version")


@dataclass(frozen=True)
class Gpu:
    """A GPU of a host."""

    number: int
    """Its number in nvidia-smi."""
    uuid: str
    name: str
    mebibytes: int
    driver: str

    @property
    def identity(self) -> str:
        """CUDA's identity: the sixteen bytes of the UUID."""
        return self.uuid.removeprefix("GPU-").replace("-", "")


def gpus() -> list[Gpu]:
    """Return all GPUs of this host, even those hidden from this process."""
    command = ["nvidia-smi", f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    found = []
    for line in done.stdout.splitlines():
        words = line.split(", ")
        if len(words) == len(_FIELDS) and words[0].isdigit():
            mebibytes = int(words[3]) if words[3].isdigit() else 0
            found.append(Gpu(int(words[0]), words[1], words[2], mebibytes, words[4]))
    return found


def driver() -> str | None:
    """Return the version of the driver of this host's GPUs, or None without one."""
    return next((gpu.driver for gpu in gpus()), None)
