"""What this machine offers: threads, and memory within the limits of a job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MOST_THREADS = 1024
"""Maximum number of threads of a run."""

_PROC = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")
_V1 = "memory"
_NO_LIMIT = 1 << 60
"""Larger limits of a control group mean that there is none."""


def free_bytes(proc: Path = _PROC, groups: Path = _GROUPS) -> int | None:
    """Return the bytes that processes can still take without swapping; None if unknown.

    Containers and Slurm limit a job by a control group, and each group by those around it. What a
    group has cached of files counts as free.
    """
    found = [each for each in (_of_machine(proc), *_of_groups(proc, groups)) if each is not None]
    return max(0, min(found)) if found else None


def _of_machine(proc: Path) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        for line in (proc / "meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return None


def _of_groups(proc: Path, groups: Path) -> Iterator[int | None]:
    """Yield what the control groups of this process leave to it."""
    with suppress(OSError):
        for line in (proc / "self" / "cgroup").read_text().splitlines():
            _, kinds, place = line.split(":", 2)
            if kinds == "":
                yield from _left(groups, place, "memory.max", "memory.current", "inactive_file")
            elif _V1 in kinds.split(","):
                names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
                yield from _left(groups / _V1, place, *names)


def _left(root: Path, place: str, limit: str, used: str, cached: str) -> Iterator[int | None]:
    """Yield what is left below the limit of a group and of those around it.

    In a container, the place may not exist below the root, which is then that of the group.
    """
    group = root / place.lstrip("/")
    for each in (group, *group.parents):
        if not each.is_relative_to(root):
            return
        with suppress(OSError, ValueError):
            most = int((each / limit).read_text())
            if most < _NO_LIMIT:
                yield most - int((each / used).read_text()) + _cached(each, cached)


def _cached(group: Path, name: str) -> int:
    with suppress(OSError, ValueError):
        for line in (group / "memory.stat").read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0
