"""Programs that are compiled in pieces: each kernel is in one of them, and results are the same."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import islands
from islands.algorithms import ALGORITHMS
from islands.backends import cpu
from islands.backends.base import Block
from islands.backends.cpu import CpuBackend
from islands.backends.source import Source
from islands.paths import data_folder

NAMES = ("one", "two", "three", "four")
SLOW = NAMES[:3]
_KERNEL = "KERNEL({}, (int32_t* out)) {{ if (threadIdx.x == 0) out[0] = count({}); }}\n"
_SHARED = "static __device__ int count(int number) { return number; }\n"


@pytest.fixture
def source(tmp_path: Path) -> Source:
    text = "".join(_KERNEL.format(name, number) for number, name in enumerate(NAMES, 1))
    (tmp_path / "four.cuh").write_text(f'#include "core/core.cuh"\n{_SHARED}{text}')
    return Source(str(tmp_path / "four.cuh"), {"ISLANDS_THREADS": "32"}, apart=SLOW)


@pytest.mark.slow
@pytest.mark.parametrize(("cores", "pieces"), [(1, 1), (2, 2), (3, 3), (64, 4)])
def test_a_program_of_a_cpu_has_all_kernels_of_its_pieces(
    cores: int, pieces: int, source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "_cores", lambda: cores)
    monkeypatch.setenv("ISLANDS_CACHE", str(tmp_path / "cache"))
    commands: list[list[str]] = []
    run_compiler = CpuBackend._compile

    def counted(
        self: CpuBackend, command: list[str], folder: Path, text: str = ""
    ) -> tuple[int, str]:
        commands.append(command)
        return run_compiler(self, command, folder, text)

    monkeypatch.setattr(CpuBackend, "_compile", counted)
    backend = CpuBackend(1)
    program, out = backend.compile(source, Block()), backend.zeros((1,), np.int32)
    for number, name in enumerate(NAMES, 1):
        backend.run([backend.call(program, name, out, blocks=1)])
        assert out[0] == number
    assert len([each for each in commands if "-c" in each]) == pieces
    CpuBackend(1).compile(source, Block())
    assert len(commands) == pieces + 1  # the link; then it is in the cache


@pytest.mark.gpu
@pytest.mark.parametrize("most", [1, 2, 3, 8])
def test_each_kernel_is_in_one_piece_for_gpus(most: int, source: Source) -> None:
    found = [_entries(each) for each in source.pieces(most)]
    assert len(found) == min(most, 4)
    assert all(found)
    assert sorted(name for names in found for name in names) == sorted(NAMES)
    # A kernel is taken from the piece that contains it.
    program = islands.backends.base.CompiledProgram(found, Block(), source.apart)
    assert all(name in program.handle(name) for name in NAMES)


def _entries(source: Source) -> Sequence[str]:
    from islands.backends import cuda

    options = [*cuda.OPTIONS, "-arch=compute_90"]
    text = cuda.translated(source, "digest", options, "getPTX").decode()
    return re.findall(r"\.entry (\w+)", text)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_kernels_that_are_slow_to_compile_exist(name: str) -> None:
    kind = ALGORITHMS[name]
    text = (data_folder("kernels") / kind.header.name).read_text()
    for kernel in kind.slow_to_compile:
        assert re.search(rf"KERNEL(_OF)?\((\d+, \d+, )?{kernel}\b", text), kernel
