"""What the NVIDIA driver of this host tells through nvidia-smi, with CuPy or without."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

_FIELDS = ("index", "uuid", "name", "memory.total", "driver_version")


@dataclass(frozen=True)
class Gpu:
    """A GPU of a host."""

    number: int
    """That nvidia-smi gives it."""
    uuid: str
    name: str
    mebibytes: int
    driver: str

    @property
    def identity(self) -> str:
        """What CUDA calls it: the sixteen bytes of the UUID."""
        return self.uuid.removeprefix("GPU-").replace("-", "")


@dataclass(frozen=True)
class Link:
    """What lies between two GPUs of a host, by their numbers."""

    host: str
    first: int
    second: int
    kind: str
    """In nvidia-smi's letters, such as NV18: eighteen links of NVLink."""
    peer_access: bool
    """Whether one reads the other's memory."""


def gpus() -> list[Gpu]:
    """Return the GPUs of this host, whichever of them this process may use."""
    found = []
    for line in _asked(f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits"):
        words = line.split(", ")
        if len(words) == len(_FIELDS) and words[0].isdigit():
            mebibytes = int(words[3]) if words[3].isdigit() else 0
            found.append(Gpu(int(words[0]), words[1], words[2], mebibytes, words[4]))
    return found


def links(host: str) -> list[Link]:
    """Return what lies between each two GPUs of this host."""
    kinds, peers = _matrix("-m"), _matrix("-p2p", "r")
    return [
        Link(host, *pair, kind, peers.get(pair) == "OK")
        for pair, kind in kinds.items()
        if pair[0] < pair[1]
    ]


def _matrix(*options: str) -> dict[tuple[int, int], str]:
    """Return the cells between GPUs of a table of `nvidia-smi topo`."""
    rows = {}
    for line in _asked("topo", *options):
        name, *cells = line.split() or [""]
        # Each has an X in its own column; other devices stand to the right of the GPUs.
        if re.fullmatch(r"GPU\d+", name) and "X" in cells:
            rows[int(name[3:])] = cells
    return {
        (first, second): cells[column]
        for first, cells in rows.items()
        for column, second in enumerate(rows)
    }


def _asked(*options: str) -> list[str]:
    try:
        done = subprocess.run(
            ["nvidia-smi", *options], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    # The head of a table is underlined.
    return re.sub(r"\x1b\[\d*m", "", done.stdout).splitlines()
