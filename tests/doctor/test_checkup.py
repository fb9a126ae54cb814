"""Checkups if ranks differ, share a GPU, or fail."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from commands_for_tests import Patch

from islands.backends import choose
from islands.backends.base import Backend
from islands.doctor import checkup as checkups
from islands.doctor.checkup import examine
from islands.doctor.nvidia import Gpu
from islands.doctor.startup import timed_start
from islands.errors import CompileError
from islands.migration.route import Parcel
from islands.migration.transport import InHostMemory
from islands.parallel import World, world


def gpu(number: int, driver: str = "580.159.03") -> Gpu:
    return Gpu(number, f"GPU-{number:032x}", "NVIDIA H200", 143771, driver)


@pytest.fixture
def no_mpi(monkeypatch: Patch) -> None:
    """Leave MPI out, as asking for its name would prevent starting it later."""
    monkeypatch.setattr(checkups, "vendor", lambda: None)


def test_a_rank_knows_its_gpu_by_its_identity(monkeypatch: Patch) -> None:
    """CUDA_VISIBLE_DEVICES may order the GPUs differently from nvidia-smi."""
    asked = {}

    def chosen(name: str, gpu: int) -> Backend:
        asked[name] = gpu
        return choose("cpu", 1)

    monkeypatch.setattr(checkups, "_visible", lambda: [gpu(3).identity, gpu(1).identity])
    monkeypatch.setattr(checkups, "choose", chosen)
    _, where, troubles = checkups.take(World(), [gpu(number) for number in range(4)])
    assert (asked, where.gpu, troubles) == ({"cuda": 0}, gpu(3), [])


@pytest.mark.parametrize(("local_rank", "number"), [(1, 0), (3, 1)])
def test_ranks_without_a_gpu_take_none(local_rank: int, number: int, monkeypatch: Patch) -> None:
    both, asked = [gpu(0).identity, gpu(1).identity], list[int]()
    ranks = World()
    ranks.local_rank, ranks.local_size = local_rank, 4
    seen = [[], both, [], both]
    monkeypatch.setattr(ranks, "local_allgather", lambda own: seen)
    monkeypatch.setattr(checkups, "_visible", lambda: seen[local_rank])

    def chosen(_name: str, gpu: int) -> Backend:
        asked.append(gpu)
        return choose("cpu", 1)

    monkeypatch.setattr(checkups, "choose", chosen)
    _, where, troubles = checkups.take(ranks, [gpu(0), gpu(1)])
    assert (asked, where.gpu, troubles) == ([number], gpu(number), [])


def test_gpus_that_are_not_used_are_a_problem(monkeypatch: Patch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(checkups, "is_gpu", lambda name: False)
    monkeypatch.setattr(checkups, "automatic", lambda: ("cpu", "CuPy is not installed"))
    _, where, troubles = checkups.take(World(), [gpu(0, "575.57.08")])
    assert where.backend == "cpu"
    (said,) = troubles
    assert said.endswith("pip install 'islands[mpi,cuda12]'")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert checkups.take(World(), [gpu(0)])[2] == []


@pytest.mark.usefixtures("no_mpi")
def test_no_device_is_a_problem_not_a_crash(monkeypatch: Patch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise CompileError("the CPU backend needs a C++ compiler")

    monkeypatch.setattr(checkups, "is_gpu", lambda name: False)
    monkeypatch.setattr(checkups, "choose", fails)
    monkeypatch.setattr(checkups.nvidia, "gpus", list)
    found = examine(World())
    assert found.problems == ["the CPU backend needs a C++ compiler"]
    assert found.ranks[0].device == "none"


class Careless(InHostMemory):
    """A transport that changes the last byte."""

    name = "careless"

    def unstage(self, parcels: Sequence[Parcel]) -> None:
        self._buffer[parcels[0].first, -1] ^= 1


class Broken(InHostMemory):
    """A transport that does not open."""

    name = "broken"

    def stage(self, parcels: Sequence[Parcel]) -> None:
        raise RuntimeError("no transport")


@pytest.mark.mpi(min_size=2)
def test_every_transport_is_timed_and_checked(monkeypatch: Patch) -> None:
    backend, ranks = choose("cpu", 1), world()
    monkeypatch.setattr(checkups, "candidates", lambda *_: [Careless, Broken, InHostMemory])
    careless, broken, good = checkups.try_transports(ranks, backend)
    assert careless.trouble == "rank 0: the message changed on its way, in 1024 bytes"
    assert broken.trouble == "rank 0: RuntimeError: no transport, in 1024 bytes"
    assert (careless.timings, broken.timings) == ([], [])
    assert good.trouble == ""
    assert [each.bytes for each in good.timings] == [1 << 10, 1 << 16, 1 << 20, 1 << 24]
    for each in good.timings:
        assert each.microseconds > 0
        assert each.gigabytes_per_second == pytest.approx(
            each.bytes / each.microseconds / 1e3, rel=0.05, abs=0.001
        )
    everyone = ranks.allgather(good)
    assert everyone == [good] * ranks.size, "all ranks know the slowest"


@pytest.mark.slow
def test_the_steps_add_up_to_the_time_of_a_start(tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path))
    began = time.monotonic()
    first = timed_start("cpu")
    elapsed = time.monotonic() - began
    assert list(first.seconds)[-1] == "generation 0"
    assert all(each > 0 for each in first.seconds.values())
    assert 0.3 * elapsed < first.total <= elapsed
    again = timed_start("cpu")
    assert (first.compiled, again.compiled) == (True, False)
    assert again.seconds["programs"] < first.seconds["programs"]


@pytest.mark.slow
def test_a_failed_start_has_no_times(monkeypatch: Patch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert timed_start("cpu") is None
