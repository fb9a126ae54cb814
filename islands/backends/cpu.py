"""The CPU: kernels are compiled by a C++ compiler, and a pool of threads runs their blocks."""

import ctypes
import errno
import os
import platform
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from islands.backends import messages, zig
from islands.backends.arguments import Arguments, host_address
from islands.backends.base import (
    Array,
    Backend,
    Block,
    Call,
    Calls,
    CompiledProgram,
    Room,
    arena,
    in_turn,
)
from islands.backends.cache import Compiling, loaded, temporary_folder, version_of
from islands.backends.host_memory import free_bytes
from islands.backends.source import Source, crash_place, rejected
from islands.errors import CompileError, RunError, Suspended, UsageError, system_reason
from islands.text import counted, option

# Contraction would round a * b + c once where the GPU rounds twice. Exceptions, which GPUs do not
# have, would need the C++ library.
_COMMON = ["-std=c++17", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-exceptions"]
# Without a return, a function continues with whatever code comes after it.
_COMMON += ["-Werror=return-type", "-Werror=div-by-zero"]
# The calling convention of vectors depends on the processor, but programs do not call each other.
_COMMON += ["-Wno-psabi"]
_OPTIONS = [*_COMMON, "-pthread", "-shared", "-fPIC", "-fvisibility=hidden"]
_FASTEST, _SOONEST = "-O3", "-O1"  # unless CXX sets another level; results are the same
_CHECKING = [*_COMMON, "-pthread", "-O1", "-g"]  # fast to compile, and with line numbers
_KEPT = "__attribute__((used)) static"
_ALIGNMENT = 64
_CHECK_SECONDS = 0.1  # between two checks whether to stop a compiler
_MOST_PIECES = 4  # of a program; each piece compiles the common headers
_ENGLISH = {"LC_ALL": "C.UTF-8", "LANGUAGE": ""}  # the language in which error lines are recognised
_ENDED = "interrupted by a signal during compilation; repeat the command"
MOST_THREADS = 1024
"""Maximum number of threads of a run."""


class CpuBackend(Backend):
    """The CPU of this machine; a block has one thread."""

    name: ClassVar[str] = "cpu"
    in_host_memory: ClassVar[bool] = True

    def __init__(self, threads: int | None = None, sharers: int = 1) -> None:
        """Use `threads` threads; by default, one per core, divided among `sharers` processes."""
        super().__init__()
        self.threads = threads if threads is not None else share_of_cores(sharers)
        if not 1 <= self.threads <= MOST_THREADS:
            requested = option("threads", self.threads)
            raise UsageError(f"{requested}: must be from 1 to {MOST_THREADS}")
        self.device = f"CPU, {counted(self.threads, 'thread')}"
        self.shared_memory: int | None = None
        self._sharers = sharers
        self.free = self.free_now()
        self.address = host_address
        self._compiler, self._version = compiler()
        self._identity = _identity(self._compiler)
        self._has_level = any(word.startswith("-O") for word in self._compiler[1:])
        self._options = _OPTIONS
        self._is_zig = self._compiler == zig.command()
        self.compiling = zig.compiling() if self._is_zig else Compiling(self.name)
        self._compilers: set[subprocess.Popen[str]] = set()

    def free_now(self) -> int | None:
        free = free_bytes()
        return None if free is None else free // self._sharers

    def block(self, *_: Any, **__: Any) -> Block:
        return Block()

    def _load(self, source: Source) -> ctypes.CDLL:
        level = _SOONEST if source.is_waited_for else _FASTEST
        options = self._options if self._has_level else [level, *self._options]
        digest = source.digest(*self._identity, self._version, *options, _processor())

        def make(path: Path) -> None:
            self.compiling.begin(source)
            self._make(source, digest, options, path)

        library = loaded(digest, ".so", make, lambda path: ctypes.CDLL(str(path)))
        if place := crash_place(source.headers()):
            library.islands_explain_crashes(place.encode())
        return library

    def executable(self, source: Source, path: Path, *also: str) -> None:
        """Compile a source that contains `main` to `path`; `also` contains further options."""
        options = [*_CHECKING, *also]
        self._make(source, source.digest(*options), options, path)

    def _make(self, source: Source, digest: str, options: list[str], path: Path) -> None:
        """Compile a source to `path`."""
        with temporary_folder() as folder:
            for name, text in source.headers().items():
                header = folder / name
                header.parent.mkdir(parents=True, exist_ok=True)
                header.write_text(text, encoding="utf-8")
            objects = self._together(
                [
                    partial(self._object, piece, digest, options, folder, number)
                    for number, piece in enumerate(source.pieces(min(_MOST_PIECES, _cores())))
                ]
            )
            if self._is_zig:
                parts = (self._compiler[0], objects, options, path)
                status, output = self._compile(zig.link(*parts), folder)
                if status != 0 and zig.needs_library(output):
                    status, output = self._compile(zig.link(*parts, library=True), folder)
            else:
                command = [*self._compiler, *options, *map(str, objects), "-o", str(path)]
                status, output = self._compile(command, folder)
        self._require_success(status, output, source, digest)
        if not path.is_file():
            raise CompileError(
                f"{self._compiler[0]} reported success but wrote no program. Set CXX to another"
                " C++ compiler"
            )

    def _object(
        self, piece: Source, digest: str, options: list[str], folder: Path, number: int
    ) -> Path:
        """Compile one piece of a program; its generated headers are in `folder`."""
        path = folder / f"{number}.o"
        # These headers precede the kernels, and never replace <vector> and the like.
        command = [*self._compiler, "-iquote", str(folder), *options, *piece.options()]
        command += ["-x", "c++", "-c", "-o", str(path), "-"]
        status, output = self._compile(command, folder, piece.text(digest, _KEPT))
        # The temporary folder means nothing to the author of a header.
        self._require_success(status, output.replace(f"{folder}/", ""), piece, digest)
        return path

    def _require_success(self, status: int, output: str, source: Source, digest: str) -> None:
        if status != 0:
            for number in (errno.ENOSPC, errno.EDQUOT):
                if os.strerror(number) in output:
                    raise OSError(number, os.strerror(number))
            log = output or f"it failed with status {status} and printed nothing. Check CXX"
            raise rejected(self._compiler[0], digest, log, source.headers())

    def _compile(self, command: list[str], folder: Path, text: str = "") -> tuple[int, str]:
        """Run the compiler with `text` as its input; return its status and its output.

        Its temporary files are in `folder`, as a killed compiler does not remove them.
        """
        environment = zig.environment() if self._is_zig else {**os.environ}
        environment |= {**_ENGLISH, "TMPDIR": str(folder)}
        # A file, as `communicate` with a timeout may write only a part of the text to a pipe.
        with TemporaryFile("w+", encoding="utf-8", dir=folder) as given:
            given.write(text)
            given.seek(0)
            with _started(command, environment, given) as process:
                self._compilers.add(process)
                try:
                    out, error = self._output(process)
                except BaseException:
                    _kill(process)
                    raise
                if process not in self._compilers:
                    stopped = CompileError(f"{command[0]} was stopped")
                    raise Suspended(_ENDED) if self._is_over() else stopped
                self._compilers.discard(process)
        return process.returncode, f"{error}{out}".strip()

    def _output(self, compiler: subprocess.Popen[str]) -> tuple[str, str]:
        """Return the output of a compiler; raise `Suspended` if the run is over first."""
        while True:
            try:
                return compiler.communicate(timeout=_CHECK_SECONDS)
            except subprocess.TimeoutExpired:
                if self._is_over():
                    raise Suspended(_ENDED) from None

    def stop_compilers(self) -> None:
        with suppress(KeyError):  # raised when there are no more
            while True:
                _kill(self._compilers.pop())

    def empty(self, shape: tuple[int, ...], dtype: DTypeLike) -> Array:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = np.empty(size + _ALIGNMENT, np.uint8)
        start = -memory.ctypes.data % _ALIGNMENT
        return memory[start : start + size].view(dtype).reshape(shape)

    def upload(self, values: NDArray[Any], to: Array | None = None) -> Array:
        target = self.empty(values.shape, values.dtype) if to is None else to
        if (values.shape, values.dtype) != (target.shape, target.dtype):  # as CuPy does
            raise TypeError(f"{values.dtype}{values.shape} into {target.dtype}{target.shape}")
        target[...] = values
        return target

    def download(self, array: Array) -> NDArray[Any]:
        return np.array(array)

    def read(self, array: Array) -> NDArray[Any]:
        return np.asarray(array)

    def fill(self, array: Array, value: int) -> None:
        array.fill(value)

    def host_array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        return np.empty(shape, dtype)

    def fetch(self, array: Array, into: NDArray[Any]) -> None:
        np.copyto(into, array)

    def store(self, values: NDArray[Any], to: Array) -> None:
        np.copyto(to, values)

    def copy(self, source: Array, target: Array) -> None:
        np.copyto(target, source)

    def poke(self, words: Array) -> None:
        words[0] = 1

    def peek(self, array: Array) -> NDArray[Any]:
        return np.array(array)

    def call(
        self,
        program: CompiledProgram,
        kernel: str,
        *arguments: Any,
        blocks: int,
        room: Room | None = None,
        threads: int | None = None,
    ) -> Call:
        if room is not None:
            arguments = (arena(None, room.large), *arguments)
        packed = Arguments(arguments, self.address)
        try:
            describe = program.handle(kernel)[f"{kernel}_signature"]
        except AttributeError:
            raise messages.no_kernel(kernel) from None
        describe.restype = ctypes.c_char_p
        expected = describe().decode()
        if expected != packed.signature:
            raise messages.other_parameters(kernel, expected, packed.signature)
        if blocks < 1:  # as CUDA rejects it
            raise ValueError(f"{kernel}: {blocks} blocks")
        launch = program.handle(kernel)[f"{kernel}_launch"]
        launch.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.c_uint64]
        launch.restype = ctypes.c_bool
        return Call(launch, blocks, self.threads, room.total if room else 0, packed)

    def run(self, calls: Calls, times: int = 1) -> None:
        for _ in range(times):
            for call in in_turn(calls):
                if not call.kernel(
                    call.arguments.pointers, call.blocks, call.threads, call.fast_bytes
                ):
                    raise RunError(
                        f"no memory for {counted(call.threads, 'arena')} of {call.fast_bytes}"
                        f" bytes. Lower {option('threads')} or population"
                    )

    @contextmanager
    def python(self) -> Iterator[Any]:
        yield np

    def synchronise(self) -> None:
        """Return at once: `run` has waited already."""

    def mark(self) -> Any:
        return time.perf_counter()

    def wait_for(self, mark: Any) -> None:
        """Return at once: `run` has waited already."""

    def seconds_between(self, begin: Any, end: Any) -> float:
        return float(end - begin)


def _started(
    command: list[str], environment: dict[str, str], given: IO[str]
) -> subprocess.Popen[str]:
    """Start a compiler that ignores the signals that ask a run for a checkpoint."""
    blocked = (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command,
            stdin=given,
            stdout=pipe,
            stderr=pipe,
            encoding="utf-8",
            errors="replace",
            env=environment,
            process_group=0,
        )
    except OSError as error:
        reason = system_reason(error)
        raise CompileError(
            f"the compiler {command[0]} cannot be started: {reason}. Repair it, or set CXX to"
            " another C++ compiler"
        ) from error
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _kill(compiler: subprocess.Popen[str]) -> None:
    """Kill a compiler and its child processes, which would keep its pipes open."""
    if compiler.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(compiler.pid, signal.SIGKILL)


def share_of_cores(sharers: int) -> int:
    """Return the number of cores for one of `sharers` processes of this host."""
    cores = _cores()
    # A launcher that bound this process to some cores has already divided them.
    return cores if cores < (os.cpu_count() or 1) else max(1, cores // sharers)


def _cores() -> int:
    """Return the number of cores that this process may use."""
    if not hasattr(os, "sched_getaffinity"):  # macOS
        return os.cpu_count() or 1
    return len(os.sched_getaffinity(0))


def _processor() -> str:
    """Return a text that differs between processors for which -march=native differs."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    fields = ("model name", "flags", "CPU implementer", "CPU part", "CPU variant", "Features")
    return "\n".join(sorted({line for line in lines if line.startswith(fields)}))


def compiler() -> tuple[list[str], str]:
    """Return the command and version of the C++ compiler: from `CXX`, the system, or Zig."""
    if cxx := os.environ.get("CXX", "").strip():
        return _compiler_of(cxx)
    for name in ("c++", "g++", "clang++"):
        if path := shutil.which(name):
            return [path], version_of(path, "--version")
    if command := zig.command():
        return command, zig.version()
    raise messages.no_compiler()


def _compiler_of(cxx: str) -> tuple[list[str], str]:
    """Return the command in `CXX`, split as by a shell, and its version."""
    try:
        name, *options = shlex.split(cxx) or [""]
        if path := shutil.which(name):
            return [path, *options], version_of(path, *options, "--version")
        where = "a program" if os.sep in name else "on the PATH"
        fault = f"{name} is not {where}" if name else "no command"
    except ValueError as error:
        fault = str(error)
    except OSError as error:
        fault = system_reason(error)
    raise UsageError(f"CXX={cxx}: {fault}. Set CXX to a C++ compiler, such as g++, or unset it")


def _identity(command: list[str]) -> list[str]:
    """Return texts that differ between compilers, for the cache of their programs.

    Links are followed, as jobs may have links in different folders. The time of the last change is
    included, as an edited wrapper or a rebuilt compiler may print the same version as before.
    """
    path = Path(command[0])
    return [path.name, str(path.resolve()), str(path.stat().st_mtime_ns), *command[1:]]
