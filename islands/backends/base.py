"""The base class of backends: devices that store arrays and run kernels.

`cpu.py` and `cuda.py` define the same methods in the same order, so that they are easy to compare.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from islands.backends.arguments import Address, Arguments, Null, Struct, as_in_kernels
from islands.backends.cache import Compiling
from islands.backends.source import Source

_Result = TypeVar("_Result")
_STOPPING_SECONDS = 0.05

Array = Any
"""An array on the device: a NumPy array on the CPU, a CuPy array on a GPU."""


@dataclass(frozen=True)
class Block:
    """The size of a program's blocks."""

    threads: int = 1
    resident: int = 1
    """Number of blocks that should share a multiprocessor."""
    spill: int = 0
    """Bytes of global memory for large parts of arenas (scratch memory); 0 if unused."""


@dataclass(frozen=True)
class Room:
    """Bytes of scratch memory that a block needs, in a large and a small part."""

    large: int
    small: int = 0

    def __post_init__(self) -> None:
        """Align both parts for the widest access, of 16 bytes."""
        object.__setattr__(self, "large", -(-self.large // 16) * 16)
        object.__setattr__(self, "small", -(-self.small // 16) * 16)

    @property
    def total(self) -> int:
        """The sum of both parts."""
        return self.large + self.small


def scratch_bytes(*parts: int) -> int:
    """Return the number of bytes that parts of these sizes take in a `Scratch` of kernels/core."""
    return sum(-(-part // 16) * 16 for part in parts)


@dataclass(frozen=True)
class CompiledProgram:
    """A program compiled in pieces; the backend loads a kernel from its `handle`."""

    handles: Sequence[Any]
    """The handles of the pieces of the source, in order."""
    block: Block
    apart: Sequence[str] = ()
    """The kernels in the pieces before the last one: see `Source.pieces`."""
    spilled: Array | None = None
    """The global memory for arenas; only one launch at a time may use it."""

    def handle(self, kernel: str) -> Any:
        """Return the handle of the piece that contains a kernel."""
        turn = self.apart.index(kernel) if kernel in self.apart else -1
        return self.handles[turn % len(self.handles)]


@dataclass(frozen=True, eq=False)
class Call:
    """One launch of a kernel with its arguments, which can be repeated."""

    kernel: Any
    blocks: int
    threads: int
    fast_bytes: int
    arguments: Arguments
    repeated: dict[Any, Any] = field(default_factory=dict)
    """CUDA graphs of repeated launches that begin with this call, kept as long as the call."""


@dataclass(frozen=True, eq=False)
class Fork:
    """Independent sequences of launches; the next launch waits for all of them."""

    sequences: Sequence[Sequence[Call]]
    repeated: dict[Any, Any] = field(default_factory=dict)
    """CUDA graphs of repeated launches that begin with this fork, kept as long as the fork."""


Calls = Sequence[Call | Fork]
Branches = Sequence[tuple[Calls, int]]
"""Independent sequences of launches, each with its number of repetitions."""


def in_turn(calls: Calls) -> Iterator[Call]:
    """Yield all launches, those of a `Fork` one after another."""
    for call in calls:
        if isinstance(call, Fork):
            yield from chain.from_iterable(call.sequences)
        else:
            yield call


class Backend(ABC):
    """A device that stores arrays and runs kernels."""

    name: ClassVar[str]
    in_host_memory: ClassVar[bool]
    """Whether arrays are in host memory, where every MPI library can read them."""
    device: str
    """A description of the device for messages."""
    identity: str = ""
    """The UUID of a GPU; empty for a CPU."""
    reason: str = ""
    """Why `auto` chose this backend."""
    shared_memory: int | None
    """Bytes of fast memory that one block can have; None if there is no limit."""
    free: int | None = None
    """Bytes of memory that were free for this process when it took the device; None if unknown."""
    threads: int = 0
    """Number of CPU threads, each with the scratch memory of a block; 0 for a GPU."""
    address: Address
    """Returns the address of an array for kernels."""
    compiling: Compiling
    """Announces compilations, and estimates their duration."""
    compile_seconds: float = 0.0
    """Seconds spent to compile the programs of islands, or to load them from the cache."""

    kept_as: Hashable = None
    """The key under which later runs reuse this object; None if it is for one run only."""

    def __init__(self) -> None:
        self._loaded: dict[Hashable, Any] = {}
        self._is_over: Callable[[], bool] = lambda: False

    def _handle(self, piece: Source) -> Any:
        """Return the handle of a program, loaded only once by this object."""
        key = piece.key()
        # Another thread may discard all loaded programs in the meantime.
        handle = self._loaded.get(key)
        if handle is None:
            handle = self._loaded[key] = self._load(piece)
        return handle

    @abstractmethod
    def _load(self, piece: Source) -> Any:
        """Return the handle of a program, compiled now or loaded from the cache."""

    def another_stream(self) -> Self | None:
        """Return the same device with a new stream, for another thread; None without streams.

        Both objects share all loaded programs.
        """
        return None

    def begin_run(self) -> None:
        """Prepare for another run, after the first one on this object."""
        self.compile_seconds = 0.0
        self.compiling.begin_run()
        self.free = self.free_now()

    def release(self) -> None:
        """Discard all programs, and return unused memory."""
        self._loaded.clear()

    @abstractmethod
    def free_now(self) -> int | None:
        """Return the bytes of memory that are free for this process; None if unknown."""

    def has_loaded(self, source: Source, block: Block) -> bool:
        """Return whether this object has loaded a program."""
        return all(piece.key() in self._loaded for piece in self._pieces(source, block))

    def joules(self) -> float | None:
        """Return the energy that the device has used since a fixed time; None if unknown."""
        return None

    @abstractmethod
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
        """Return the size of a program's blocks; on a GPU, they have at least `fewest` threads.

        The threads of a block share `items` work items. If fast memory is too small for `room`, its
        large part uses at most `slices` slices of global memory. `needed` has the number of threads
        that the kernels require, and the maximum number of resident blocks. `few` selects many
        small blocks, which are faster if blocks synchronise often.
        """

    def compile(self, source: Source, block: Block) -> CompiledProgram:
        """Return the program, compiled now or loaded from the cache; any thread may call this."""
        pieces = self._pieces(source, block)
        handles = self._together([partial(self._handle, piece) for piece in pieces])
        return CompiledProgram(handles, block, source.apart, self._spilled(block))

    def _together(self, jobs: Sequence[Callable[[], _Result]]) -> list[_Result]:
        """Run compilations in parallel and return their results; if one fails, stop all."""
        if len(jobs) == 1:
            return [jobs[0]()]
        with ThreadPoolExecutor(len(jobs)) as pool:
            futures = [pool.submit(job) for job in jobs]
            try:
                ended, _ = wait(futures, return_when=FIRST_EXCEPTION)
                for future in ended:
                    future.result()
            except BaseException:
                self.stop_all(futures)
                raise
        return [future.result() for future in futures]

    @contextmanager
    def stopping_if(self, is_over: Callable[[], bool]) -> Iterator[None]:
        """Inside `with`, stop compilers and raise `Suspended` once `is_over()`, if possible.

        The conditions of outer contexts remain in effect.
        """
        before = self._is_over
        self._is_over = lambda: before() or is_over()
        try:
            yield
        finally:
            self._is_over = before

    def stop_all(self, futures: Sequence[Future[Any]]) -> None:
        """Stop compilers, repeatedly, until the threads that wait for them have finished."""
        while not all(future.done() for future in futures):  # one may be about to start a compiler
            self.stop_compilers()
            wait(futures, _STOPPING_SECONDS)

    def _pieces(self, source: Source, block: Block) -> list[Source]:
        """Return the pieces of a source that are compiled separately, for blocks of this size."""
        return [source]

    def _spilled(self, block: Block) -> Array | None:
        """Return the global memory for arenas; None if they fit into fast memory."""
        return None

    @abstractmethod
    def stop_compilers(self) -> None:
        """Stop all running compilers, of any thread, if possible."""

    def required_room(self, source: Source, *arguments: Any) -> Room:
        """Return the scratch memory of a block, as computed by the kernel `room` of a program."""
        program = self.compile(self._of_room(source), Block(threads=32))
        room = self.zeros((2,), np.int64)
        self.run([self.call(program, "room", *arguments, room, blocks=1)])
        large, small = self.download(room).tolist()
        return Room(large, small)

    def _of_room(self, source: Source) -> Source:
        """Return the source of the kernel `room`, on a GPU without the other kernels."""
        return source

    @abstractmethod
    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return a new array with unspecified content."""

    @abstractmethod
    def upload(self, values: NDArray[Any], to: Array | None = None) -> Array:
        """Return a copy of `values` on the device, in the array `to` if given."""

    @abstractmethod
    def download(self, array: Array) -> NDArray[Any]:
        """Return a copy of a device array, after all earlier launches."""

    def read(self, array: Array) -> NDArray[Any]:
        """Return the content of a device array, which may be a view until the next launch."""
        return self.download(array)

    @abstractmethod
    def fill(self, array: Array, value: int) -> None:
        """Set all elements of an array to one value."""

    @abstractmethod
    def host_array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return a host array for fast copies by `fetch` and `store`."""

    @abstractmethod
    def fetch(self, array: Array, into: NDArray[Any]) -> None:
        """Begin to copy a device array to a `host_array`, in order with the launches."""

    @abstractmethod
    def store(self, values: NDArray[Any], to: Array) -> None:
        """Begin to copy a `host_array` to the device, in order with the launches."""

    @abstractmethod
    def copy(self, source: Array, target: Array) -> None:
        """Copy an array to another of the same shape on the device, in order with the launches."""

    @abstractmethod
    def poke(self, words: Array) -> None:
        """Set the first 32-bit word of an array to 1 immediately, from any thread."""

    @abstractmethod
    def peek(self, array: Array) -> NDArray[Any]:
        """Return a copy of an array's current content, at once and from any thread."""

    @abstractmethod
    def call(
        self,
        program: CompiledProgram,
        kernel: str,
        *arguments: Any,
        blocks: int,
        room: Room | None = None,
        threads: int | None = None,
    ) -> Call:
        """Return a launch of `kernel`.

        With `room`, an arena is added as the first argument, before `arguments`. Such a kernel may
        run with fewer than `blocks` blocks; it loops over its jobs with `gridDim.x` or `next_job`.
        On a GPU, blocks have `threads` threads, by default those of the program.
        """

    @abstractmethod
    def run(self, calls: Calls, times: int = 1) -> None:
        """Launch the calls in order, `times` times, without waiting for them."""

    def run_again(self, calls: Calls) -> None:
        """Launch calls that every generation repeats; a GPU keeps them as a graph."""
        self.run(calls)

    def run_branches(self, branches: Branches, times: int) -> None:
        """Launch independent sequences of calls; `times` multiplies the repetitions of each.

        A device may run them at the same time.
        """
        for calls, repeats in branches:
            self.run(calls, repeats * times)

    @contextmanager
    @abstractmethod
    def python(self) -> Iterator[Any]:
        """Yield the module for arrays, NumPy or CuPy; its calls are ordered with the launches."""

    def recorded(self, work: Callable[[], Any]) -> Callable[[], None] | None:
        """Return a function that repeats the launches of `work`, without its Python code.

        Return None if that is impossible: on a CPU, or if `work` waits for the GPU.
        """
        return None

    @abstractmethod
    def synchronise(self) -> None:
        """Wait for all launches."""

    @abstractmethod
    def mark(self) -> Any:
        """Return a mark that is reached when all earlier launches are complete."""

    @abstractmethod
    def wait_for(self, mark: Any) -> None:
        """Wait until a mark is reached, but not for later launches."""

    @abstractmethod
    def seconds_between(self, begin: Any, end: Any) -> float:
        """Return the time between two marks that have been reached."""

    @contextmanager
    def timed(self) -> Iterator[list[float]]:
        """Yield a list to which the duration of the launches inside, in milliseconds, is added."""
        milliseconds: list[float] = []
        begin = self.mark()
        yield milliseconds
        end = self.mark()
        self.wait_for(end)
        milliseconds.append(1000 * self.seconds_between(begin, end))

    def uploaded(self, members: Mapping[str, NDArray[Any] | np.generic]) -> Struct:
        """Return a struct of the members; arrays are copied to the device."""
        values = members.items()
        return Struct(**{n: v if isinstance(v, np.generic) else self.upload(v) for n, v in values})

    def upload_structs(self, structs: Sequence[Struct]) -> Array:
        """Return structs of one type as an array on the device."""
        records = [as_in_kernels(struct, self.address) for struct in structs]
        return self.upload(np.concatenate(records).view(np.uint8))

    def zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        """Return a new array of zeros."""
        array = self.empty(shape, dtype)
        self.fill(array, 0)
        return array


def arena(memory: Array | None, large_bytes: int) -> Struct:
    """Return an `Arena` of kernels/core; `memory` has the large parts, by default fast memory."""
    where = Null(np.uint8) if memory is None else memory
    return Struct(memory=where, large_bytes=np.uint64(large_bytes))
