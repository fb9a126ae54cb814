"""Programs that tests compile, their launches, and those of real parts for GPUs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.algorithms import ALGORITHMS
from islands.archipelago.colonies import ColonySpec
from islands.archipelago.parts import ProgramParts
from islands.backends import cuda
from islands.backends.arguments import Struct
from islands.backends.base import Backend, Block, Room
from islands.backends.source import Header, Macros, Source
from islands.improvers import ImproverSettings
from islands.problems.base import Problem

_KERNELS = Path(__file__).parents[1] / "kernels"

CHECKS = Source(str(_KERNELS / "check.cuh"))
"""Entry points that call single functions of the kernels."""
SCAN = Source(str(_KERNELS / "scan.cuh"))
"""A program that compiles quickly."""


def parts(
    problem: Problem,
    algorithm: str,
    encoding: str,
    settings: dict[str, Any] | None = None,
    improver: dict[str, Any] | None = None,
    decoding: str = "",
) -> ProgramParts:
    """Return the parts of a run of 20 individuals; no improver by default."""
    kind = ALGORITHMS[algorithm]
    return ProgramParts.of(
        ColonySpec(
            islands=1,
            population=20,
            algorithm=algorithm,
            encoding=encoding,
            settings=kind.completed(kind.Settings.build(settings or {}), encoding),
            improver=ImproverSettings.build(improver or {"name": "none"}),
            decoding=decoding,
        ),
        problem,
        None,
    )


def for_gpu(
    entry: str,
    macros: Mapping[str, str | Header],
    block: Block,
    structs: Mapping[str, Struct] | None = None,
) -> Source:
    """Return a program with the macros that the CUDA backend adds for a block."""
    cut: Macros = {"ISLANDS_THREADS": str(block.threads), "ISLANDS_BLOCKS": str(block.resident)}
    if block.spill:
        cut["ISLANDS_GLOBAL_ARENA"] = "1"
    return Source(entry, {**macros, **cut}, structs or {})


def require_compiles(source: Source) -> None:
    """Require that a program for GPUs has no errors of C++.

    Since NVRTC 13, this takes a tenth of the usual time.
    """
    _translated(source, ["-arch=compute_90"], "--fdevice-syntax-only", "getPTX")


def require_machine_code(
    source: Source, architecture: str = "sm_90", *, optimised: bool = False
) -> None:
    """Require machine code for a GPU: as for users, or with less optimisation, in half of the time.

    Only this finds a function without a definition, or too much shared memory.
    """
    if not optimised:
        code = _translated(source, [f"-arch={architecture}"], "--Ofast-compile=max", "getCUBIN")
        assert code[:4] == b"\x7fELF"
        return
    code, digest = cuda.compiled(source, architecture, Path.read_bytes)
    assert code[:4] == b"\x7fELF"
    assert digest.encode() in code  # by which the cache knows it


def _translated(source: Source, options: list[str], faster: str, form: str) -> bytes:
    options = [*cuda.OPTIONS, *options]
    if cuda.load_cupy().cuda.nvrtc.getVersion() >= (13, 0):
        options.append(faster)
    return cuda.translated(source, source.digest(*options), options, form)


class Launcher:
    """Runs kernels of the checks, and copies arrays to the device and back."""

    def __init__(self, backend: Backend, block: Block) -> None:
        self.backend, self.threads = backend, block.threads
        self.upload, self.download = backend.upload, backend.download
        self._program = backend.compile(CHECKS, block)

    def __call__(
        self, kernel: str, *arguments: Any, blocks: int = 1, room: Room | None = None
    ) -> None:
        call = self.backend.call(self._program, kernel, *arguments, blocks=blocks, room=room)
        self.backend.run([call])
        self.backend.synchronise()


def random(*shape: int, low: int = -(2**40), high: int = 2**40, seed: int = 5) -> NDArray[np.int64]:
    """Return random integers from `low` up to `high` - 1."""
    return np.random.default_rng(seed).integers(low, high, shape)
