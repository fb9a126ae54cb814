"""Threads of the CPU backend, its free memory, crashes of a user's code, and the energy of GPUs."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from programs_for_tests import SCAN

from islands.backends.base import Block
from islands.backends.cpu import CpuBackend
from islands.backends.host_memory import free_bytes
from islands.progress.usage import EnergyMeter
from islands.testing.ranks import on_ranks


def scans(backend: CpuBackend) -> list[int]:
    """Return the different results of a kernel with enough blocks for every thread."""
    program = backend.compile(SCAN, Block())
    values = backend.upload(np.ones((500, 200), np.uint32))
    backend.run([backend.call(program, "scan", np.int32(200), values, blocks=500)])
    return np.unique(values.sum(axis=1)).tolist()


@pytest.mark.usefixtures("fresh_cache")
def test_concurrent_launches_run_one_after_another() -> None:
    backend = CpuBackend(3)
    with ThreadPoolExecutor(4) as pool:
        for found in [pool.submit(scans, backend) for _ in range(40)]:
            assert found.result(timeout=60) == [199 * 200 // 2]


def test_a_launch_without_blocks_is_rejected() -> None:
    backend = CpuBackend(2)
    program, values = backend.compile(SCAN, Block()), backend.upload(np.ones((1, 8), np.uint32))
    with pytest.raises(ValueError, match="scan: 0 blocks"):
        backend.call(program, "scan", np.int32(8), values, blocks=0)


def test_a_forked_child_starts_its_own_threads() -> None:
    backend = CpuBackend(3)
    scans(backend)
    child = os.fork()
    if child == 0:
        os._exit(0 if scans(backend) == [199 * 200 // 2] else 1)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert status == 0
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child hangs")


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


class Counter:
    """A device with a counter that each reading advances."""

    def __init__(self, identity: str, step: float | None) -> None:
        self.identity, self._step, self._now = identity, step, 1000.0

    def joules(self) -> float | None:
        if self._step is None:
            return None
        self._now += self._step
        return self._now


@pytest.mark.parametrize(
    ("devices", "energy"),
    [
        ([("a", 5.0), ("b", 7.0)], 12.0),
        ([("a", 5.0), ("a", 5.0)], 5.0),  # two ranks share a GPU
        ([("a", 5.0), ("b", None)], None),
    ],
)
def test_the_energy_of_all_ranks_counts_each_gpu_once(
    devices: list[tuple[str, float | None]], energy: float | None
) -> None:
    found = on_ranks(
        2,
        lambda world: EnergyMeter(Counter(*devices[world.rank]), world).of_all_ranks(),  # type: ignore[arg-type]
    )
    assert found == [energy, energy]


_SCRIPT = """
import sys
import islands

cost = "__device__ long long cost(const Solution& s, int n, const Data& data) {{ {body} }}"
own = islands.permutation(9, cost=cost)
islands.solve(own, algorithm="ga", generations=3, backend="cpu", threads={threads})
"""
_RECURSION = """
struct Deep {{
    __device__ static int f(int k) {{
        volatile char own[4096];
        own[k % 4096] = 1;
        return f(k + 1) + own[0];
    }}
}};
return Deep::f(s[0]);
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("const int* none = nullptr; return none[s[0]];", "SIGSEGV"),
        ("volatile int zero = 0; return 7 / (s[0] * zero);", "SIG"),
        (_RECURSION.replace("{{", "{").replace("}}", "}").replace("\n", " "), "SIGSEGV"),
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_messages_name_the_code(tmp_path: Path, body: str, name: str, threads: int) -> None:
    script = tmp_path / "crash.py"
    script.write_text(_SCRIPT.format(body=body, threads=threads))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode < 0  # the signal, as without the message
    assert done.stderr.count("islands: the process received") == 1
    assert f"received {name}" in done.stderr
    assert "in cost.cu. Find the line with: islands check FILE.py:NAME" in done.stderr
