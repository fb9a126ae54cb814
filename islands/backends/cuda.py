"""An NVIDIA GPU: NVRTC compiles kernels, CuPy launches them, and CUDA graphs repeat launches."""

import ctypes
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from islands.backends import messages
from islands.backends.arguments import Arguments, device_address
from islands.backends.base import (
    Array,
    Backend,
    Block,
    Branches,
    Call,
    Calls,
    CompiledProgram,
    Fork,
    Room,
    arena,
    in_turn,
)
from islands.backends.cache import Compiling, loaded
from islands.backends.gpus import devices, identity_of, joules, load_cupy, shared_memory
from islands.backends.source import Source, rejected
from islands.errors import UsageError
from islands.text import option

_MOST_PIECES = 8  # of a program
_RESERVED = 1024  # bytes of shared memory per block for the system
_LINE = 512  # bytes; with unaligned slices of global memory, a search took 12 % longer
_FEW, _MOST_SMALL = 1024, 8
"""Threads of a multiprocessor with small blocks, and the maximum number of such blocks. Measured on
an H100 with four blocks: tempering makes 3 to 24 % more proposals than with half of the threads;
the gain is largest at low temperatures."""
_LONGEST_GRAPH = 100  # repetitions in one graph: enough to make the cost of its launch negligible

_requests = Lock()


class CudaBackend(Backend):
    """One GPU of this machine."""

    name: ClassVar[str] = "cuda"
    in_host_memory: ClassVar[bool] = False

    def __init__(self, number: int = 0, sharers: int = 1) -> None:
        """Use the GPU with this number among those that the process sees.

        Its free memory is divided among `sharers` processes.
        """
        super().__init__()
        cupy, count = load_cupy(), devices()
        if number >= count:
            raise UsageError(
                f"GPU {number} was requested, but this process sees {count}. "
                f"Add GPUs to CUDA_VISIBLE_DEVICES, or choose {option('backend', 'cpu')}"
            )
        self._cupy = cupy
        self._device = cupy.cuda.Device(number)
        self._device.use()
        facts = cupy.cuda.runtime.getDeviceProperties(number)
        self.device = facts["name"].decode()
        self.identity = identity_of(number)
        self.shared_memory: int = shared_memory(number)
        self.address = device_address
        self._shared = facts["sharedMemPerMultiprocessor"]
        self._multiprocessors = facts["multiProcessorCount"]
        self._memory = facts["totalGlobalMem"]
        self._sharers = sharers
        self.free = self.free_now()
        self._architecture = f"sm_{facts['major']}{facts['minor']}"
        self._begin_stream()
        self._one = np.ones(1, np.int32)
        self._requested: dict[int, int] = {}
        """The bytes of shared memory that launches of each kernel may have."""
        self.compiling = Compiling(self.name)

    def another_stream(self) -> Self:
        self._device.use()
        other = copy(self)
        other._begin_stream()
        other.compiling = Compiling(self.name)
        other.kept_as = None
        return other

    def _begin_stream(self) -> None:
        self._stream = self._cupy.cuda.Stream(non_blocking=True)
        self._graphs = Graphs(self._cupy, self._stream)

    def begin_run(self) -> None:
        self._device.use()  # each thread has its own current device
        super().begin_run()

    def release(self) -> None:
        super().release()
        with _requests:
            self._requested.clear()  # another kernel may get the same address
        self._cupy.get_default_memory_pool().free_all_blocks()

    def free_now(self) -> int:
        held = self._cupy.get_default_memory_pool().free_bytes()
        return int(self._cupy.cuda.runtime.memGetInfo()[0] + held) // self._sharers

    def joules(self) -> float | None:
        return joules(self.identity)

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
        if room.total > self.shared_memory:
            return Block(1024, 1, min(slices, self._multiprocessors) * _slice(room))
        if few:
            size = room.total + 2 * _RESERVED  # with the arrays that kernels declare
            fits = max(1, min(_MOST_SMALL, self._shared // size))
            return Block(_FEW // fits // 32 * 32, fits)
        # Measured on an H200: about 16 items per thread; 1536 threads per multiprocessor, which
        # leaves 40 registers for each; and an eighth of the shared memory left as cache.
        fits = max(1, self._shared * 7 // 8 // (room.total + _RESERVED))
        if needed is not None:
            return Block(max(fewest, needed.threads), max(1, min(fits, needed.resident)))
        threads = min(512, max(fewest, 1 << round(math.log2(max(1, items / 16)))))
        threads = max(threads, min(1024, 1536 // fits // 128 * 128))
        return Block(threads, max(1, min(fits, max(8, 1024 // threads), 1536 // threads)))

    def _load(self, source: Source) -> Any:
        return compiled(source, self._architecture, self._module, self.compiling.begin)[0]

    def _pieces(self, source: Source, block: Block) -> list[Source]:
        return _with_block(source, block).pieces(_MOST_PIECES)

    def _spilled(self, block: Block) -> Array | None:
        return self.empty((block.spill,), np.uint8) if block.spill else None

    def stop_compilers(self) -> None:
        """Return at once: NVRTC runs in this process and cannot be stopped."""

    def _of_room(self, source: Source) -> Source:
        # The whole program is compiled for blocks whose size depends on the result.
        return replace(source, defines={**source.defines, "ISLANDS_ROOM": "1"}, apart=())

    def _module(self, path: Path) -> Any:
        self._device.use()  # each thread has its own current device
        module = self._cupy.RawModule(path=str(path))
        _ = module.module  # loads it now, not at the first use of a kernel
        return module

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        try:
            return self._cupy.empty(shape, dtype)
        except self._cupy.cuda.memory.OutOfMemoryError:
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            raise messages.too_little_gpu_memory(self._memory, size) from None

    def upload(self, values: NDArray[Any], to: Array | None = None) -> Array:
        target = self.empty(values.shape, values.dtype) if to is None else to
        target.set(np.ascontiguousarray(values), stream=self._stream)
        self.synchronise()
        return target

    def download(self, array: Array) -> NDArray[Any]:
        self.synchronise()
        return np.asarray(self._cupy.asnumpy(array))

    def fill(self, array: Array, value: int) -> None:
        if value != 0:
            self.upload(np.full(array.shape, value, array.dtype), array)
            return
        # CuPy would compile a kernel for this.
        array.data.memset_async(0, array.nbytes, self._stream)
        self.synchronise()

    def host_array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        # Only page-locked memory is copied while the host continues.
        size = int(np.prod(shape, dtype=np.int64))
        memory = self._cupy.cuda.alloc_pinned_memory(max(1, size * np.dtype(dtype).itemsize))
        return np.frombuffer(memory, dtype, size).reshape(shape)

    def fetch(self, array: Array, into: NDArray[Any]) -> None:
        array.get(stream=self._stream, out=into, blocking=False)

    def store(self, values: NDArray[Any], to: Array) -> None:
        to.set(values, stream=self._stream)

    def copy(self, source: Array, target: Array) -> None:
        with self._stream:
            self._cupy.copyto(target, source)

    def poke(self, words: Array) -> None:
        # The stream of the kernels is busy; copies on another stream overtake it.
        self._device.use()
        with self._cupy.cuda.Stream(non_blocking=True) as aside:
            words[:1].set(self._one, stream=aside)
            aside.synchronize()

    def peek(self, array: Array) -> NDArray[Any]:
        self._device.use()
        with self._cupy.cuda.Stream(non_blocking=True) as aside:
            return np.asarray(array.get(stream=aside))

    def call(
        self,
        program: CompiledProgram,
        kernel: str,
        *arguments: Any,
        blocks: int,
        room: Room | None = None,
        threads: int | None = None,
    ) -> Call:
        try:
            function = program.handle(kernel).get_function(kernel)
        except self._cupy.cuda.driver.CUDADriverError:
            raise messages.no_kernel(kernel) from None
        shared = 0
        if room is not None:
            space, shared, blocks = _arena(room, blocks, program)
            arguments = (space, *arguments)
        if shared > self.shared_memory:
            raise messages.too_little_shared_memory(kernel, shared, self.shared_memory)
        # More than 48 KiB, including arrays that kernels declare, must be requested. Other threads
        # may launch the same kernel with more.
        with _requests:
            largest = self._requested[function.kernel.ptr] = max(
                shared, self._requested.get(function.kernel.ptr, 0)
            )
            function.max_dynamic_shared_size_bytes = largest
        packed = Arguments(arguments, self.address)
        return Call(function.kernel, blocks, threads or program.block.threads, shared, packed)

    def run(self, calls: Calls, times: int = 1) -> None:
        with self._stream:
            while times > 1:
                length = min(times, _LONGEST_GRAPH)
                self._graphs.graph([(calls, 1)], length).launch(self._stream)
                times -= length
            for call in in_turn(calls) if times else ():
                self._graphs.launch(call, self._stream)

    def run_again(self, calls: Calls) -> None:
        if len(calls) == 1 and isinstance(calls[0], Call):
            self.run(calls)
            return
        with self._stream:
            self._graphs.graph([(calls, 1)], 1).launch(self._stream)

    def run_branches(self, branches: Branches, times: int) -> None:
        if len(branches) < 2:
            super().run_branches(branches, times)
            return
        longest = max(1, _LONGEST_GRAPH // max(repeats for _, repeats in branches))
        with self._stream:
            while times > 0:
                length = min(times, longest)
                self._graphs.graph(branches, length).launch(self._stream)
                times -= length

    @contextmanager
    def python(self) -> Iterator[Any]:
        with self._device, self._stream:
            yield self._cupy

    def recorded(self, work: Callable[[], Any]) -> Callable[[], None] | None:
        # The arrays that the graph writes have their own pool, so that their memory is not reused.
        pool = self._cupy.cuda.MemoryPool()
        with self.python(), self._cupy.cuda.using_allocator(pool.malloc):
            try:
                work()  # compiles and allocates
                self._stream.begin_capture()
                try:
                    kept = work()
                finally:
                    graph = self._stream.end_capture()
            except Exception:  # of a user's function
                return None

        def repeat(_: Any = (pool, kept)) -> None:
            graph.launch(self._stream)

        return repeat

    def synchronise(self) -> None:
        self._stream.synchronize()

    def mark(self) -> Any:
        event = self._cupy.cuda.Event()
        event.record(self._stream)
        return event

    def wait_for(self, mark: Any) -> None:
        mark.synchronize()

    def seconds_between(self, begin: Any, end: Any) -> float:
        return float(self._cupy.cuda.get_elapsed_time(begin, end)) / 1000


def _with_block(source: Source, block: Block) -> Source:
    """Return the source with the macros for blocks of this size."""
    macros = {"ISLANDS_THREADS": str(block.threads), "ISLANDS_BLOCKS": str(block.resident)}
    if block.spill:
        macros["ISLANDS_GLOBAL_ARENA"] = "1"
    return replace(source, defines={**source.defines, **macros})


def _slice(room: Room) -> int:
    """Return the bytes of global memory for the large part of a block's arena."""
    return -(-room.large // _LINE) * _LINE


def _arena(room: Room, blocks: int, program: CompiledProgram) -> tuple[Any, int, int]:
    """Return the arena, its bytes of shared memory, and the number of blocks to launch."""
    if program.spilled is None:
        return arena(None, room.large), room.total, blocks
    fit = program.block.spill // _slice(room) if room.large else blocks
    return arena(program.spilled, _slice(room)), room.small, min(blocks, fit)


class Graphs:
    """Captures launches on a CuPy stream; each graph is kept as long as its first launch."""

    def __init__(self, cupy: Any, stream: Any) -> None:
        self._cupy, self._stream = cupy, stream
        self._idle: dict[Any, list[Any]] = {}
        """Idle streams, by the pointer of the stream from which they branch."""

    def graph(self, branches: Branches, length: int) -> Any:
        """Return a graph of all branches; `length` multiplies the repetitions of each."""
        first = branches[0][0][0]
        key = (length, *((*calls, repeats) for calls, repeats in branches))
        if key not in first.repeated:
            self._stream.begin_capture()
            jobs = [partial(self._launch_all, [*calls] * (n * length)) for calls, n in branches]
            self._together(jobs, self._stream)
            first.repeated[key] = self._stream.end_capture()
        return first.repeated[key]

    def _launch_all(self, calls: Calls, stream: Any) -> None:
        for call in calls:
            if isinstance(call, Fork):
                jobs = [partial(self._launch_all, calls) for calls in call.sequences]
                self._together(jobs, stream)
            else:
                self.launch(call, stream)

    def _together(self, jobs: Sequence[Callable[[Any], None]], stream: Any) -> None:
        """Run the first job on a stream, and each other job on another stream.

        A stream that waits for an event of a captured stream is also captured.
        """
        idle = self._idle.setdefault(stream.ptr, [])
        new = self._cupy.cuda.Stream
        others = [idle.pop() if idle else new(non_blocking=True) for _ in jobs[1:]]
        if others:
            begin = stream.record(self._event())
        for other in others:
            other.wait_event(begin)
        for job, of_job in zip(jobs, [stream, *others], strict=True):
            job(of_job)
        for other in others:
            stream.wait_event(other.record(self._event()))
        idle += reversed(others)

    def _event(self) -> Any:
        return self._cupy.cuda.Event(disable_timing=True)

    def launch(self, call: Call, stream: Any) -> None:
        """Launch a kernel on a stream."""
        self._cupy.cuda.driver.launchKernel(
            call.kernel.ptr,
            *(call.blocks, 1, 1),
            *(call.threads, 1, 1),
            call.fast_bytes,
            stream.ptr,
            ctypes.addressof(call.arguments.pointers),
            0,
        )


# Contraction would round a * b + c once where the CPU rounds twice.
OPTIONS = ["--std=c++17", "--fmad=false", "--ftz=false"]
OPTIONS += ["--diag-error=940,39"]  # a missing return, and a division by a constant zero
_ON_ALL_CORES, _SINCE = "--split-compile=0", (13, 0)  # an option, and the first NVRTC that has it
_KEPT = 'extern "C" __device__'  # kept because it can be looked up by name


def compiled(
    source: Source,
    architecture: str,
    load: Callable[[Path], Any],
    begins: Callable[[Source], None] = lambda _: None,
) -> tuple[Any, str]:
    """Return what `load` returns for the machine code of, for example, `sm_90`, and the digest.

    `begins` is called before a compilation, but not if the program is in the cache.
    """
    nvrtc = load_cupy().cuda.nvrtc
    version = nvrtc.getVersion()
    options = [*OPTIONS, f"-arch={architecture}"]
    if version >= _SINCE:
        options.append(_ON_ALL_CORES)
    digest = source.digest("nvrtc", str(version), *options)

    def make(path: Path) -> None:
        begins(source)
        path.write_bytes(translated(source, digest, options, "getCUBIN"))

    return loaded(digest, ".cubin", make, load), digest


def translated(source: Source, digest: str, options: Sequence[str], form: str) -> bytes:
    """Return the code from NVRTC; `form` is the method that returns it, `getCUBIN` or `getPTX`."""
    nvrtc = load_cupy().cuda.nvrtc
    headers = source.headers()
    names, texts = ([text.encode() for text in side] for side in (headers, headers.values()))
    program = nvrtc.createProgram(source.text(digest, _KEPT), "program.cu", texts, names)
    try:
        nvrtc.compileProgram(program, (*options, *source.options()))
        code: bytes = getattr(nvrtc, form)(program)
        return code
    except nvrtc.NVRTCError:
        log = nvrtc.getProgramLog(program)
        if _ON_ALL_CORES in options and "): error" not in log:  # not in a line of the source
            # Rarely, NVRTC 13 fails to read the output of its threads.
            alone = [option for option in options if option != _ON_ALL_CORES]
            return translated(source, digest, alone, form)
        raise rejected("NVRTC", digest, log, headers) from None
    finally:
        nvrtc.destroyProgram(program)
