"""The free memory is that of the machine, or what the control groups of a job leave of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from islands.backends.cpu import free_bytes

MIB = 1 << 20


class Machine:
    """The files of /proc and /sys/fs/cgroup of a machine with 1000 MiB of free memory."""

    def __init__(self, folder: Path) -> None:
        self.proc, self.groups = folder / "proc", folder / "cgroup"
        write(self.proc / "meminfo", f"MemTotal: 9999999 kB\nMemAvailable: {1000 << 10} kB\n")

    def is_in(self, *lines: str) -> None:
        write(self.proc / "self" / "cgroup", "".join(f"{line}\n" for line in lines))

    def has(self, place: str, **files: int | str) -> None:
        for name, content in files.items():
            write(self.groups / place / name.replace("__", "."), f"{content}\n")

    def free(self) -> int | None:
        return free_bytes(self.proc, self.groups)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_limit_of_any_group_around_a_job_counts(machine: Machine) -> None:
    machine.is_in("0::/slurm/job/step")
    machine.has("slurm/job/step", memory__max="max", memory__current=5 * MIB)
    machine.has("slurm/job", memory__max=300 * MIB, memory__current=120 * MIB)
    machine.has("slurm/job", memory__stat=f"anon 7\ninactive_file {20 * MIB}")
    machine.has("slurm", memory__max=900 * MIB, memory__current=400 * MIB)
    assert machine.free() == 200 * MIB
    machine.has("slurm", memory__max=900 * MIB, memory__current=999 * MIB)
    assert machine.free() == 0


def test_a_group_that_is_the_root_of_a_container_counts(machine: Machine) -> None:
    machine.is_in("0::/docker/0123")
    machine.has(".", memory__max=64 * MIB, memory__current=4 * MIB)
    assert machine.free() == 60 * MIB


def test_groups_of_the_first_version_count(machine: Machine) -> None:
    machine.is_in("9:cpu,cpuacct:/job", "4:memory:/job", "0::/")
    stat = f"total_inactive_file {MIB}"
    files = {"memory__limit_in_bytes": 50 * MIB, "memory__usage_in_bytes": 11 * MIB}
    machine.has("memory/job", **files, memory__stat=stat)
    machine.has("memory", memory__limit_in_bytes=9223372036854771712, memory__usage_in_bytes=1)
    assert machine.free() == 40 * MIB
