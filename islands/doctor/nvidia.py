"""The GPUs of this host and the links between them, from nvidia-smi; CuPy is not needed."""

import re
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


@dataclass(frozen=True)
class Link:
    """The link between two GPUs of a host, by their numbers."""

    host: str
    first: int
    second: int
    kind: str
    """Type in nvidia-smi's notation, such as NV18: eighteen NVLinks."""
    peer_access: bool
    """Whether one GPU can read the other's memory."""


def gpus() -> list[Gpu]:
    """Return all GPUs of this host, even those hidden from this process."""
    listed = []
    for line in _output(f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits"):
        words = line.split(", ")
        if len(words) == len(_FIELDS) and words[0].isdigit():
            mebibytes = int(words[3]) if words[3].isdigit() else 0
            listed.append(Gpu(int(words[0]), words[1], words[2], mebibytes, words[4]))
    return listed


def driver() -> str | None:
    """Return the version of the driver of this host's GPUs, or None without one."""
    return next((gpu.driver for gpu in gpus()), None)


def links(host: str) -> list[Link]:
    """Return the links between the GPUs of this host."""
    kinds, peers = _matrix("-m"), _matrix("-p2p", "r")
    return [
        Link(host, *pair, kind, peers.get(pair) == "OK")
        for pair, kind in kinds.items()
        if pair[0] < pair[1]
    ]


def _matrix(*options: str) -> dict[tuple[int, int], str]:
    """Return the cells of a table of `nvidia-smi topo` by pair of GPUs."""
    rows = {}
    for line in _output("topo", *options):
        name, *cells = line.split() or [""]
        # Each GPU has an X in its own column; other devices follow to the right.
        if re.fullmatch(r"GPU\d+", name) and "X" in cells:
            rows[int(name[3:])] = cells
    return {
        (first, second): cells[column]
        for first, cells in rows.items()
        for column, second in enumerate(rows)
    }


def _output(*options: str) -> list[str]:
    try:
        done = subprocess.run(
            ["nvidia-smi", *options], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return []
    # The header of a table contains escape codes for underlining.
    return re.sub(r"\x1b\[\d*m", "", done.stdout).splitlines()
