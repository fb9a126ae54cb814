"""A GPU that the CPU emulates: blocks of many threads, for machines without a GPU."""

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

from islands.backends.base import Block, Call, CompiledProgram, Room
from islands.backends.cpu import CpuBackend
from islands.backends.source import Source

_HEADERS = Path(__file__).parents[1] / "kernels" / "emulated"
_SHARED_SLICES = 2
"""Blocks of a launch whose working memory is in global memory, each with several jobs."""


class EmulatedGpu(CpuBackend):
    """Runs what a GPU would, in blocks of `most` threads, which take turns.

    Blocks have more threads if the kernels need them.
    """

    def __init__(self, most: int = 1024, shared_memory: int | None = None) -> None:
        super().__init__(1)
        self._most, self._shared = most, shared_memory
        self.device = f"emulated GPU, blocks of at most {most} threads"
        texts = b"".join(path.read_bytes() for path in sorted(_HEADERS.rglob("*.*")))
        version = int(hashlib.sha256(texts).hexdigest()[:8], 16)  # names the program in the cache
        own = [f"-iquote{_HEADERS}", "-D__CUDACC__", "-U_FORTIFY_SOURCE", f"-DEMULATED={version}"]
        self._options = [*own, *self._options]

    def block(
        self,
        room: Room,
        items: int,
        slices: int,
        fewest: int = 128,
        *,
        needed: Block | None = None,
        few: bool = False,
    ) -> Block:
        is_large = self._shared is not None and room.total > self._shared
        threads = self._most if needed is None else max(self._most, needed.threads)
        return Block(threads, spill=_SHARED_SLICES if is_large else 0)

    def compile(self, source: Source, block: Block) -> CompiledProgram:
        defines = {**source.defines, "ISLANDS_THREADS": str(block.threads)}
        # In one piece, as the threads that take turns are variables of the program.
        whole = dataclasses.replace(source, defines=defines, apart=())
        return super().compile(whole, block)

    def call(
        self,
        program: CompiledProgram,
        kernel: str,
        *arguments: Any,
        blocks: int,
        room: Room | None = None,
        threads: int | None = None,
    ) -> Call:
        if room is not None and program.block.spill:
            blocks = min(blocks, program.block.spill)
        made = super().call(program, kernel, *arguments, blocks=blocks, room=room)
        count = min(self._most, threads) if threads else program.block.threads
        return dataclasses.replace(made, threads=count)
