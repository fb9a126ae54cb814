"""The interface of backends, on each available device, and the GPUs of ranks."""

import numpy as np
import pytest
from programs_for_tests import CHECKS

import islands.backends as backends
from islands.backends import automatic, choose, gpus
from islands.backends.base import Backend, Block, Room
from islands.backends.gpus import assigned, devices, identities
from islands.doctor import nvidia
from islands.encodings.keys import Keys
from islands.errors import CompileError, RunError, UsageError


def test_arenas_above_the_memory_are_an_error(backend: Backend) -> None:
    if backend.name == "cpu":
        program = backend.compile(CHECKS, Block())
        encoding = Keys(4, None)
        keys, out = backend.zeros((4,), np.float32), backend.zeros((4,), np.int32)
        arguments = (np.int32(1), encoding.shape(), keys, out)
        room = Room(1 << 60)
        call = backend.call(program, "check_order", *arguments, blocks=1, room=room)
        with pytest.raises(RunError, match="no memory for"):
            backend.run([call])
    else:
        with pytest.raises(UsageError, match="GiB is too small"):
            backend.empty((1 << 50,), np.uint8)


@pytest.mark.parametrize("n", [9_000, 9_152, 12_000, 43_000, 44_000, 70_000])
def test_keys_are_sorted_with_any_shared_memory(backend: Backend, n: int) -> None:
    keys = np.random.default_rng(2).integers(0, 1 << 24, (7, n)) / np.float32(1 << 24)
    encoding = Keys(n, backend.shared_memory)
    rows = np.zeros((7, encoding.pitch), np.float32)
    rows[:, :n] = keys
    room = backend.required_room(CHECKS, encoding.shape())
    assert backend.shared_memory is None or room.small <= backend.shared_memory
    block = backend.block(room, n, 2)
    program = backend.compile(CHECKS, block)
    assert (block.spill == 0) == (backend.name == "cpu" or n < 44_000)
    out = backend.zeros((7, n), np.int32)
    arguments = (np.int32(7), encoding.shape(), backend.upload(rows), out)
    backend.run([backend.call(program, "check_order", *arguments, blocks=7, room=room)])
    assert (backend.download(out) == np.argsort(keys, axis=1, kind="stable")).all()


def test_without_a_driver_cupy_is_not_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "find_spec", lambda name: "found")
    monkeypatch.setattr(gpus, "_DRIVER", "libnothing.so.1")
    monkeypatch.setattr(gpus, "load_cupy", lambda: pytest.fail("CuPy was imported"))
    assert automatic() == ("cpu", "no GPU found")


def test_an_impossible_backend_is_rejected(backend: Backend) -> None:
    with pytest.raises(UsageError, match=r"unknown backend 'gpu'.*Known: auto, cuda, cpu"):
        choose("gpu")
    for threads in (0, 100_000):
        with pytest.raises(UsageError, match=f"threads={threads}: must be from 1 to 1024"):
            choose("cpu", threads=threads)
    with pytest.raises((UsageError, CompileError), match='choose backend="cpu"'):
        choose("cuda", gpu=1000)


@pytest.mark.parametrize(
    ("visible", "numbers"),
    [
        ([["a"]], [0]),
        ([["a", "b"], ["a", "b"]], [0, 1]),
        # As with Slurm or launch/bind: each rank sees only its own.
        ([["a"], ["b"], ["c"]], [0, 0, 0]),
        ([["a", "b"], ["a", "b"], ["c", "d"], ["c", "d"]], [0, 1, 0, 1]),
        ([["b", "a"], ["a", "b"]], [0, 0]),
        ([["a", "b"], ["a"]], [1, 0]),
    ],
)
def test_each_rank_gets_its_own_gpu(visible: list[list[str]], numbers: list[int]) -> None:
    assert assigned(visible, "n01", share=False) == numbers
    assert assigned(visible, "n01", share=True) == numbers


@pytest.mark.parametrize(
    ("visible", "fault"),
    [
        ([["a", "b"]] * 4, "2 GPUs for 4 ranks"),
        ([["a"], ["a"]], "1 GPU for 2 ranks"),
        ([["a"], ["a"], ["b", "c"]], "one rank sees only"),
        ([["a"], []], "sees no GPU"),
    ],
)
def test_ranks_without_a_gpu_of_their_own_are_rejected(
    visible: list[list[str]], fault: str
) -> None:
    with pytest.raises(UsageError, match=fault):
        assigned(visible, "n01", share=False)
    if all(visible):
        assert assigned([["a", "b"]] * 4, "n01", share=True) == [0, 1, 0, 1]


def test_the_driver_and_nvidia_smi_agree_about_gpus(backend: Backend) -> None:
    if backend.name == "cpu":
        pytest.skip("needs a GPU")
    known = [each.identity for each in nvidia.gpus()]
    if not known:
        pytest.skip("nvidia-smi does not list GPUs")
    found = identities()
    assert backend.identity == found[0]
    assert len(set(found)) == len(found) == devices()
    assert {*found} <= {*known}
