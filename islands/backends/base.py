"""What a backend is: a device that holds arrays and runs the kernels, a GPU or the CPU's threads.

`cpu.py` and `cuda.py` hold the same methods in the same order: read one beside the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from islands.backends.arguments import Arguments, Struct, laid_out
from islands.backends.compiling import Compiling
from islands.backends.source import Source
from islands.errors import CompileError

Array = Any
"""An array on the device: a NumPy array on the CPU, a CuPy array on a GPU."""


@dataclass(frozen=True)
class Block:
    """How a program's blocks are cut."""

    threads: int = 1
    resident: int = 1
    """How many blocks should share a multiprocessor."""
    spill: int = 0
    """Bytes of global memory for the large parts of arenas; 0 where fast memory has room."""


@dataclass(frozen=True)
class Room:
    """Bytes of working memory that one block needs: a part that may be large, and a small one."""

    large: int
    small: int = 0

    def __post_init__(self) -> None:
        """Keep both parts aligned for the widest access, of sixteen bytes."""
        object.__setattr__(self, "large", -(-self.large // 16) * 16)
        object.__setattr__(self, "small", -(-self.small // 16) * 16)

    @property
    def total(self) -> int:
        """Both parts together."""
        return self.large + self.small


def shelves(*parts: int) -> int:
    """Return the bytes of parts taken one after another from a `Scratch` of kernels/core."""
    return sum(-(-part // 16) * 16 for part in parts)


@dataclass(frozen=True)
class Program:
    """A compiled program; `handle` is what the backend loads kernels from."""

    handle: Any
    digest: str
    block: Block
    spilled: Array | None = None
    """The global memory for arenas, which launches take in turn."""


@dataclass(frozen=True, eq=False)
class Call:
    """One launch of a kernel with its arguments, ready to be repeated."""

    kernel: Any
    blocks: int
    threads: int
    fast_bytes: int
    arguments: Arguments
    repeated: dict[Any, Any] = field(default_factory=dict)
    """What a backend keeps of repetitions that begin with this call, as long as it lives."""


class Backend(ABC):
    """A device and the ways to use it."""

    name: ClassVar[str]
    in_host_memory: ClassVar[bool]
    """Whether arrays lie in the host's memory, where every MPI takes them."""
    device: str
    """The device in words for people."""
    reason: str = ""
    """Why `auto` chose this backend."""
    block_memory: int | None
    """Bytes of fast memory that one block can have; None where there is no such limit."""
    compiling: Compiling
    """Where it says that it compiles."""
    compile_seconds: float = 0.0
    """How long the programs of islands took, those that were in the cache included."""

    @abstractmethod
    def block(self, room: Room, items: int, slices: int, fewest: int = 128) -> Block:
        """Return how to cut the blocks of a program, of at least `fewest` threads on a GPU.

        `items` are the pieces of work that a block shares. Where fast memory is too small for
        `room`, up to so many `slices` of global memory are taken for its large part.
        """

    @abstractmethod
    def compile(self, source: Source, block: Block) -> Program:
        """Return the program, compiled now or taken from the cache; from any thread."""

    @abstractmethod
    def stop_compilers(self) -> None:
        """End the compilers that run now for any thread, where that can be."""

    def asked_room(self, source: Source, *arguments: Any) -> Room:
        """Return what the kernel `room` of a program says that a block needs."""
        program = self.compile(self._of_room(source), Block(threads=32))
        asked = self.zeros((2,), np.int64)
        self.run([self.call(program, "room", *arguments, asked, blocks=1)])
        large, small = self.download(asked).tolist()
        return Room(large, small)

    def _of_room(self, source: Source) -> Source:
        """Return the source of what is asked, where not all of a program need be compiled."""
        return source

    @abstractmethod
    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return a new array with unspecified content."""

    @abstractmethod
    def address(self, array: Array) -> int:
        """Return where an array lies on the device."""

    @abstractmethod
    def upload(self, values: NDArray[Any], to: Array | None = None) -> Array:
        """Return a copy of `values` on the device, in `to` if it is given."""

    @abstractmethod
    def download(self, array: Array) -> NDArray[Any]:
        """Return a copy of a device array, after all that was launched before."""

    @abstractmethod
    def read(self, array: Array) -> NDArray[Any]:
        """Return what `download` does, for the moment: it may be the array itself."""

    @abstractmethod
    def fill(self, array: Array, value: int) -> None:
        """Give all numbers of an array one value."""

    @abstractmethod
    def host_array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an array on the host that `fetch` and `store` reach fast."""

    @abstractmethod
    def fetch(self, array: Array, into: NDArray[Any]) -> None:
        """Copy a device array to one of `host_array`, in order with the launches, not waiting."""

    @abstractmethod
    def store(self, values: NDArray[Any], to: Array) -> None:
        """Copy an array of `host_array` to the device, in order with the launches, not waiting."""

    @abstractmethod
    def copy(self, source: Array, target: Array) -> None:
        """Copy an array to another of the same shape on the device, in order with the launches."""

    @abstractmethod
    def poke(self, words: Array) -> None:
        """Set the first of some words of 32 bits to 1, at once and from any thread."""

    @abstractmethod
    def peek(self, array: Array) -> NDArray[Any]:
        """Return a copy of an array as it stands, at once and from any thread."""

    @abstractmethod
    def call(
        self,
        program: Program,
        kernel: str,
        *arguments: Any,
        blocks: int,
        room: Room | None = None,
    ) -> Call:
        """Return a launch of `kernel`.

        A kernel that works in an arena takes it as its first argument, which is put before
        `arguments` where `room` is given; it may get fewer `blocks` than asked for, and steps
        through its jobs by `gridDim.x` or `next_job`.
        """

    @abstractmethod
    def run(self, calls: Sequence[Call], times: int = 1) -> None:
        """Launch the calls one after another, and all of them so many times, without waiting."""

    @abstractmethod
    def synchronise(self) -> None:
        """Wait for all that was launched."""

    @abstractmethod
    def mark(self) -> Any:
        """Return a mark of the moment at which all that was launched so far is done."""

    @abstractmethod
    def wait_for(self, mark: Any) -> None:
        """Wait until a mark is passed, whatever was launched after it."""

    @abstractmethod
    def seconds_between(self, begin: Any, end: Any) -> float:
        """Return the time between two marks, both of which have been passed."""

    @contextmanager
    @abstractmethod
    def timed(self) -> Iterator[list[float]]:
        """Yield a list that receives the milliseconds that the launches inside take."""

    @staticmethod
    def without(kernel: str) -> CompileError:
        """Return the error of a program that lacks a kernel."""
        return CompileError(
            f"the program has no kernel {kernel!r}. Write KERNEL({kernel}, ...) in a header, or"
            " hint the name where it is launched"
        )

    def upload_structs(self, structs: Sequence[Struct]) -> Array | None:
        """Return so many structs of one kind on the device, or None for none."""
        if not structs:
            return None
        records = [laid_out(each, self.address) for each in structs]
        return self.upload(np.concatenate(records).view(np.uint8))

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return a new array of zeros."""
        return self.upload(np.zeros(shape, dtype))


def arena(memory: Array | None, large_bytes: int) -> Struct:
    """Return `Arena` of kernels/core; `memory` has the large parts, or is None in fast memory."""
    return Struct(memory=memory, large_bytes=np.uint64(large_bytes))
