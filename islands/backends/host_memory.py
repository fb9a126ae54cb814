"""The memory of this host that a process can still allocate.

Containers and Slurm limit the memory of a job by nested control groups.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")
_V1 = "memory"
_NO_LIMIT = 1 << 60
"""Larger limits of a control group mean that there is no limit."""


def free_bytes(proc: Path = _PROC, groups: Path = _GROUPS) -> int | None:
    """Return the bytes that this process can still allocate without swapping; None if unknown.

    Cached files count as free.
    """
    free = [*_of_machine(proc), *_of_groups(proc, groups)]
    return max(0, min(free)) if free else None


def _of_machine(proc: Path) -> Iterator[int]:
    with suppress(OSError, ValueError, IndexError):
        for line in (proc / "meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) << 10


def _of_groups(proc: Path, groups: Path) -> Iterator[int]:
    """Yield the free bytes in each control group of this process."""
    with suppress(OSError):
        for line in (proc / "self" / "cgroup").read_text().splitlines():
            _, kinds, place = line.split(":", 2)
            if kinds == "":
                yield from _left(groups, place, "memory.max", "memory.current", "inactive_file")
            elif _V1 in kinds.split(","):
                names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
                yield from _left(groups / _V1, place, *names)


def _left(root: Path, place: str, limit: str, used: str, cached: str) -> Iterator[int]:
    """Yield the free bytes below the limit of a group, and of the groups that contain it.

    In a container, `place` may not exist below the root; the root is then the group itself.
    """
    innermost = root / place.lstrip("/")
    for group in (innermost, *innermost.parents):
        if not group.is_relative_to(root):
            return
        with suppress(OSError, ValueError):
            most = int((group / limit).read_text())
            if most < _NO_LIMIT:
                yield most - int((group / used).read_text()) + _cached(group, cached)


def _cached(group: Path, name: str) -> int:
    with suppress(OSError, ValueError):
        for line in (group / "memory.stat").read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0
