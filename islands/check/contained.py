"""Run the functions of a stated problem in a process of their own.

A read outside of an array ends the process, and so does undefined behaviour if the compiler has
sanitizers. A function that does not return is ended after a time limit.
"""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Null, Struct, as_in_kernels
from islands.backends.cpu import CpuBackend
from islands.check.program import source_of
from islands.errors import CompileError
from islands.modelling.problem import StatedProblem

_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:redzone=2048:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}
_STEPS = ("cost", "delta", "repair")
_POLL = 0.02  # seconds
_NOT_STARTED = 3


@dataclass(frozen=True)
class Ended:
    """How the process ended."""

    done: int
    """The number of solutions whose functions have returned."""
    count: int
    step: str
    """The function that ran last."""
    status: int | None
    """The exit status, or None if it was stopped at the time limit."""
    log: str
    arrays: dict[str, tuple[int, int, int]]
    """For each array, its address, its length and the size of an element."""
    packs: bool
    """Whether an element of a solution has 32 items."""
    sanitized: bool
    reason: str
    """Why no sanitizer was used."""

    @property
    def is_sound(self) -> bool:
        """Whether all calls have returned without a fault."""
        return self.status == 0


def run_contained(
    problem: StatedProblem,
    solutions: NDArray[np.generic],
    ends: NDArray[np.int32],
    seconds: float,
) -> Ended:
    """Call the functions on each solution; stop after `seconds` in one solution.

    `ends` are moves, as for `CheckProgram.deltas`. After `seconds` in all, the rest is left out.
    """
    backend = CpuBackend(threads=1)
    data = Struct(
        **{
            name: value if isinstance(value, np.generic) else Null(value.dtype)
            for name, value in problem.data().items()
        }
    )
    source = source_of("check/main.hpp", problem, data)
    with TemporaryDirectory() as name:
        folder = Path(name)
        program, output, reason = folder / "check", folder / "output", ""
        _write(folder / "input", problem, data, solutions, ends)
        try:
            backend.executable(source, program, *_SANITIZERS)
            ended = _run(problem, folder, len(solutions), seconds, sanitized=True)
            if ended.done >= 0 or ended.status is None:
                return ended
            reason = (ended.log.strip().splitlines() or ["it did not start"])[0]
        except CompileError as error:
            reason = str(error)
        # A real error of the user's code is raised here.
        backend.executable(source, program)
        output.unlink(missing_ok=True)
        return _run(problem, folder, len(solutions), seconds, sanitized=False, reason=reason)


def _write(
    path: Path,
    problem: StatedProblem,
    data: Struct,
    solutions: NDArray[np.generic],
    ends: NDArray[np.int32],
) -> None:
    """Write the input of kernels/check/main.hpp."""
    record = as_in_kernels(data, lambda _: 0)
    offsets = {} if record.dtype.fields is None else record.dtype.fields
    arrays = _arrays(problem)
    stored = problem.kind.stored(solutions)
    row = stored.nbytes // max(1, len(stored))
    with path.open("wb") as file:
        for number in (problem.size, len(stored), row, len(arrays), ends.shape[1]):
            file.write(np.int64(number).tobytes())
        for name, array in arrays.items():
            file.write(np.array([offsets[name][1], array.nbytes], np.int64).tobytes())
        file.write(np.int64(record.nbytes).tobytes())
        file.write(record.tobytes())
        for array in arrays.values():
            file.write(array.tobytes())
        file.write(stored.tobytes())
        file.write(problem.kind.encoded(solutions).tobytes())
        file.write(np.ascontiguousarray(ends, np.int32).tobytes())


def _run(
    problem: StatedProblem,
    folder: Path,
    count: int,
    seconds: float,
    *,
    sanitized: bool,
    reason: str = "",
) -> Ended:
    output = folder / "output"
    progress = np.memmap(output, np.int64, "w+", shape=(2 + count,))
    progress[0] = -1
    progress.flush()
    printed, log = folder / "printed", folder / "log"
    with printed.open("w") as out, log.open("w") as error:
        process = subprocess.Popen(
            [str(folder / "check"), str(folder / "input"), str(output)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=error,
            env=os.environ | _OPTIONS,
        )
        status = _waited(process, progress, seconds)
    return Ended(
        int(progress[0]),
        count,
        _STEPS[int(progress[1])],
        status,
        log.read_text(errors="replace"),
        _placed(problem, printed.read_text()),
        problem.kind.name == "subset",
        sanitized,
        reason,
    )


def _waited(
    process: subprocess.Popen[bytes], progress: NDArray[np.int64], seconds: float
) -> int | None:
    """Return the exit status, 0 if time for further solutions is over, or None."""
    began = changed = time.monotonic()
    last = -1
    try:
        while process.poll() is None:
            time.sleep(_POLL)
            now, done = time.monotonic(), int(progress[0])
            if done != last:
                last, changed = done, now
            if done > 0 and now - began > seconds and changed == now:
                return 0
            if now - changed > seconds:
                return None
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    return process.returncode


def _arrays(problem: StatedProblem) -> dict[str, NDArray[np.generic]]:
    members = problem.data().items()
    return {name: value for name, value in members if not isinstance(value, np.generic)}


def _placed(problem: StatedProblem, printed: str) -> dict[str, tuple[int, int, int]]:
    """Return where each array is; `s` is the solution."""
    arrays = _arrays(problem)
    sizes = {name: array.itemsize for name, array in arrays.items()}
    sizes["s"] = problem.kind.stored_dtype(in_tiles=False).itemsize
    found = {}
    for (name, size), line in zip(sizes.items(), printed.splitlines(), strict=False):
        address, length = map(int, line.split())
        found[name] = address, length // size, size
    return found
