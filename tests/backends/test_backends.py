"""What each backend promises, on each device that there is."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scanned import SCAN

import islands.backends as backends
from islands.backends import choose, zig
from islands.backends.base import Backend, Block, Room
from islands.backends.cache import loaded
from islands.backends.cpu import CpuBackend
from islands.backends.source import Source
from islands.encodings.keys import Keys
from islands.errors import CompileError, RunError, UsageError


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def broken(tmp_path: Path) -> Source:
    part = tmp_path / "broken.cuh"
    names = ("no_such_name", "nor_this")
    lines = [f"__device__ int f_{name}() {{ return {name}; }}" for name in names]
    part.write_text("#pragma once\n" + "\n".join(lines) + "\n", encoding="utf-8")
    parts = [f"ISLANDS_{part}" for part in ("ENCODING", "PROBLEM", "IMPROVER", "ALGORITHM")]
    return Source("program.cuh", dict.fromkeys(parts, f'"{part}"'))


def test_a_program_is_compiled_once_for_all_processes(backend: Backend, fresh_cache: Path) -> None:
    backend.compile(SCAN, Block(128))
    (compiled,) = (fresh_cache / "programs").iterdir()
    before = compiled.stat().st_mtime_ns
    choose(backend.name).compile(SCAN, Block(128))
    assert [path.stat().st_mtime_ns for path in (fresh_cache / "programs").iterdir()] == [before]


def test_a_refused_kernel_shows_its_first_error_and_where_the_log_is(
    backend: Backend, fresh_cache: Path, tmp_path: Path
) -> None:
    with pytest.raises(CompileError) as caught:
        backend.compile(broken(tmp_path), Block(128))
    message = str(caught.value)
    assert "\n" not in message
    assert "broken.cuh" in message
    assert "no_such_name" in message
    assert "nor_this" not in message
    log = Path(message.partition("full log: ")[2].rstrip(")"))
    assert "nor_this" in log.read_text(encoding="utf-8")
    assert [path.suffix for path in (fresh_cache / "programs").iterdir()] == [".log"]


def test_arrays_go_to_the_device_and_back(backend: Backend) -> None:
    values = np.random.default_rng(1).integers(0, 9, (5, 3))
    array = backend.upload(values)
    other = backend.empty((5, 3), values.dtype)
    backend.copy(array, other)
    assert (backend.download(other) == values).all()
    backend.upload(values[0], other[2])
    assert backend.download(other)[2].tolist() == values[0].tolist()
    assert backend.download(backend.zeros((4,), np.float32)).tolist() == [0, 0, 0, 0]


def test_a_damaged_program_is_made_anew(
    backend: Backend, fresh_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.compile(SCAN, Block(128))
    (sound,) = (fresh_cache / "programs").iterdir()
    # In another folder, since a library of the same path would be taken for the loaded one.
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "other"))
    damaged = tmp_path / "other" / "programs" / sound.name
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(sound.read_bytes()[:100])
    backend.compile(SCAN, Block(128))
    (made,) = damaged.parent.iterdir()
    assert made.stat().st_size > 100


def test_a_compiler_that_makes_nothing_is_an_error(
    fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "true")
    with pytest.raises(CompileError, match="made nothing"):
        choose("cpu").compile(SCAN, Block())
    assert list((fresh_cache / "programs").iterdir()) == []


@pytest.mark.usefixtures("fresh_cache")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 3", "it failed with status 3 and printed nothing. Check CXX"),
        ("echo no licence; exit 3", "no licence"),
    ],
)
def test_a_compiler_that_fails_without_an_error_is_told_of(
    script: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\n{script}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(CompileError) as caught:
        choose("cpu").compile(SCAN, Block())
    assert str(caught.value).startswith(f"{compiler} refused a kernel: {reason} (full log: ")


def test_a_program_that_cannot_be_loaded_is_an_error_and_not_kept(fresh_cache: Path) -> None:
    with pytest.raises(CompileError, match=r"cannot be loaded: .*file too short"):
        loaded("digest", ".so", Path.touch, lambda path: ctypes.CDLL(str(path)))
    assert list((fresh_cache / "programs").iterdir()) == []


@pytest.mark.usefixtures("fresh_cache")
def test_a_compiler_may_have_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "c++ -DANY")
    choose("cpu").compile(SCAN, Block())


def scans(backend: CpuBackend) -> list[int]:
    """Launch a kernel on enough blocks for every thread, and return what it computed."""
    program = backend.compile(SCAN, Block())
    values = backend.upload(np.ones((500, 200), np.uint32))
    backend.run([backend.call(program, "scan", np.int32(200), values, blocks=500)])
    return np.unique(values.sum(axis=1)).tolist()


@pytest.mark.usefixtures("fresh_cache")
def test_launches_from_several_threads_take_turns() -> None:
    backend = CpuBackend(3)
    with ThreadPoolExecutor(4) as pool:
        for found in [pool.submit(scans, backend) for _ in range(40)]:
            assert found.result(timeout=60) == [199 * 200 // 2]


def test_a_forked_child_has_threads_of_its_own() -> None:
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


def test_arenas_that_no_memory_has_room_for_are_an_error(backend: Backend) -> None:
    if backend.name == "cpu":
        program = backend.compile(Source("check.cuh"), Block())
        arguments = (np.int32(1), backend.zeros((1,), np.float64), backend.zeros((1,), np.float64))
        room = Room(1 << 60)
        call = backend.call(program, "check_ordered_sum", *arguments, blocks=1, room=room)
        with pytest.raises(RunError, match="no memory for"):
            backend.run([call])
    else:
        with pytest.raises(UsageError, match="GiB are too little"):
            backend.empty((1 << 50,), np.uint8)


@pytest.mark.parametrize("times", [1, 2, 5, 250])
def test_calls_are_repeated_in_order(backend: Backend, times: int) -> None:
    program = backend.compile(SCAN, Block(128))
    value = backend.upload(np.array([1, 1, 1], np.uint32))
    call = backend.call(program, "scan", np.int32(3), value, blocks=1)
    backend.run([call, call], times)
    expected = np.ones(3, np.uint32)
    for _ in range(2 * times):
        expected = np.cumsum(expected, dtype=np.uint32) - expected
    assert backend.download(value).tolist() == expected.tolist()


def test_time_passes(backend: Backend) -> None:
    with backend.timed() as milliseconds:
        backend.upload(np.zeros(1_000_000))
    assert milliseconds[0] > 0


@pytest.mark.parametrize(
    "n", [9_000, 9_152, 9_300, 12_000, 43_000, 44_000, 58_000, 70_000, 120_000]
)
def test_keys_are_sorted_whatever_memory_the_block_has(backend: Backend, n: int) -> None:
    keys = np.random.default_rng(2).integers(0, 1 << 24, (7, n)) / np.float32(1 << 24)
    encoding = Keys(n, backend.block_memory)
    rows = np.zeros((7, encoding.pitch), np.float32)
    rows[:, :n] = keys
    room = backend.asked_room(Source("check.cuh"), encoding.shape())
    assert backend.block_memory is None or room.small <= backend.block_memory
    block = backend.block(room, n, 2)
    program = backend.compile(Source("check.cuh"), block)
    assert (block.spill == 0) == (backend.name == "cpu" or n < 44_000)
    out = backend.zeros((7, n), np.int32)
    arguments = (np.int32(7), encoding.shape(), backend.upload(rows), out)
    backend.run([backend.call(program, "check_order", *arguments, blocks=7, room=room)])
    assert (backend.download(out) == np.argsort(keys, axis=1, kind="stable")).all()


def test_ranks_of_one_host_share_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    assert [CpuBackend(None, ranks).threads for ranks in (1, 3, 8, 20)] == [8, 2, 1, 1]
    assert CpuBackend(5, 8).threads == 5
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {2, 3})
    assert CpuBackend(None, 4).threads == 2


def test_auto_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    assert choose("auto").name == "cpu"
    assert choose("auto").reason == "CuPy is not installed"
    assert choose("cpu").reason == "requested"


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(zig, "command", lambda: None)
    message = r"needs a C\+\+ compiler.*apt install g\+\+.*pip install ziglang"
    with pytest.raises(CompileError, match=message):
        choose("cpu")


@pytest.mark.parametrize(
    ("wanted", "fault"),
    [
        ("no-such-compiler -O2", "no-such-compiler is not on the PATH"),
        ("/no/compiler", "/no/compiler is not a program"),
        ("FOLDER", "FOLDER is not a program"),
        ("FOLDER/text", "Exec format error"),
        ("''", "no command"),
        ("'", "No closing quotation"),
    ],
)
def test_a_wrong_compiler_is_to_be_corrected(
    wanted: str, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("text")
    (tmp_path / "text").chmod(0o755)
    wanted, fault = (each.replace("FOLDER", str(tmp_path)) for each in (wanted, fault))
    monkeypatch.setenv("CXX", wanted)
    with pytest.raises(UsageError) as caught:
        choose("cpu")
    assert str(caught.value) == (
        f"CXX={wanted}: {fault}. Let CXX name a C++ compiler, such as g++, or unset it"
    )


def test_a_backend_that_cannot_be_is_refused(backend: Backend) -> None:
    with pytest.raises(UsageError, match=r"unknown backend 'gpu'.*Known: auto, cuda, cpu"):
        choose("gpu")
    for threads in (0, 100_000):
        with pytest.raises(UsageError, match=f"threads={threads}: must be from 1 to 1024"):
            choose("cpu", threads=threads)
    with pytest.raises((UsageError, CompileError), match='choose backend="cpu"'):
        choose("cuda", gpu=1000)
