"""Run the functions of a user's problem in a separate process, and describe their faults.

If the compiler has sanitizers, they end the process at a read outside of an array or at undefined
behaviour. Their message contains the line, and an address that gives the array and the index. A
function that does not return is stopped at a time limit.
"""

import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Null, Struct, as_in_kernels
from islands.backends.cache import temporary_folder
from islands.backends.cpu import CpuBackend
from islands.backends.source import user_line
from islands.check.ways import Walk, source_of
from islands.errors import CompileError
from islands.modelling.model import Model

_SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
_OPTIONS = {
    "ASAN_OPTIONS": "detect_leaks=0:redzone=2048:detect_stack_use_after_return=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}
_STEPS = ("cost", "delta", "repair", "state", "cross")
_POLL = 0.02  # seconds


@dataclass(frozen=True)
class Ended:
    """How the process ended."""

    done: int
    """The number of solutions for which all functions have returned."""
    count: int
    step: str
    """The function that ran last."""
    status: int | None
    """The exit status, or None if it was stopped at the time limit."""
    log: str
    arrays: dict[str, tuple[int, int, int]]
    """For each array, its address, its length and the size of an element."""
    packs: bool
    """Whether an element of a solution contains 32 items, one per bit."""
    sanitized: bool
    reason: str
    """Why no sanitizer was used."""

    @property
    def is_sound(self) -> bool:
        """Whether all calls have returned without a fault."""
        return self.status == 0


def run_contained(
    problem: Model,
    solutions: NDArray[np.generic],
    ends: NDArray[np.int32],
    seconds: float,
    walk: Walk | None = None,
) -> Ended:
    """Call the functions on each solution, for at most `seconds` per solution.

    `ends` has moves, as for `CheckProgram.deltas`, and `walk` the moves to apply to a state. When
    `seconds` have passed in total, the remaining solutions are omitted.
    """
    backend = CpuBackend(threads=1)
    data = Struct(
        **{
            name: value if isinstance(value, np.generic) else Null(value.dtype)
            for name, value in problem.device_data().items()
        }
    )
    source = source_of("check/main.hpp", problem, data)
    with temporary_folder() as folder:
        program, output, reason = folder / "check", folder / "output", ""
        _write(folder / "input", problem, data, solutions, ends, walk)
        try:
            backend.executable(source, program, *_SANITIZERS)
            ended = _run(problem, folder, len(solutions), seconds, sanitized=True)
            if ended.done >= 0 or ended.status is None:
                return ended
            reason = (ended.log.strip().splitlines() or ["it did not start"])[0]
        except CompileError as error:
            reason = str(error)
        # Compile errors in the user's code are raised here.
        backend.executable(source, program)
        output.unlink(missing_ok=True)
        return _run(problem, folder, len(solutions), seconds, sanitized=False, reason=reason)


def _write(
    path: Path,
    problem: Model,
    data: Struct,
    solutions: NDArray[np.generic],
    ends: NDArray[np.int32],
    walk: Walk | None,
) -> None:
    """Write the input of kernels/check/main.hpp."""
    record = as_in_kernels(data, lambda _: 0)
    offsets = {} if record.dtype.fields is None else record.dtype.fields
    arrays = _arrays(problem)
    stored = problem.kind.stored(solutions)
    row = stored.nbytes // max(1, len(stored))
    steps = 0 if walk is None else len(walk.names)
    with path.open("wb") as file:
        for number in (problem.size, len(stored), row, len(arrays), ends.shape[1], steps):
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
        if walk is not None:
            file.write(walk.numbers.tobytes())
            file.write(walk.values.tobytes())


def _run(
    problem: Model,
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
    """Return the exit status; 0 if the total time is used up, None if a solution takes too long."""
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


def _arrays(problem: Model) -> dict[str, NDArray[np.generic]]:
    members = problem.device_data().items()
    return {name: value for name, value in members if not isinstance(value, np.generic)}


def _placed(problem: Model, printed: str) -> dict[str, tuple[int, int, int]]:
    """Return address, length and element size of each array; `s` is the solution."""
    arrays = _arrays(problem)
    sizes = {name: array.itemsize for name, array in arrays.items()}
    sizes["s"] = problem.kind.stored_dtype(in_tiles=False).itemsize
    places = {}
    for (name, size), line in zip(sizes.items(), printed.splitlines(), strict=False):
        address, length = map(int, line.split())
        places[name] = address, length // size, size
    return places


_FAULT = re.compile(r"AddressSanitizer: ([\w-]+)(?: on (?:unknown )?address (0x[0-9a-f]+))?")
_ACCESS = re.compile(r"\b(READ|WRITE) (?:of size|memory access)")
_LOCAL = re.compile(r"'(\w+)'(?: \(line \d+\))? <== Memory access at offset \d+ (\w+)flows")
_UNDEFINED = re.compile(r"(\S+?):(\d+):\d+: runtime error: ([^\n]*)")
_NEAR = 1 << 34
"""An address farther from all arrays than this, in bytes, does not come from a wrong index."""


def fault_of(ended: Ended, text: str, seconds: float, solution: str) -> str:
    """Describe the fault that ended a process; `text` is the header of the problem."""
    call = f"{ended.step} of the solution {solution}"
    if ended.status is None:
        return (
            f"{call}: did not return within {seconds:g} s. Correct a loop that does not end, or"
            " allow more time with seconds="
        )
    if undefined := _UNDEFINED.search(ended.log):
        place = user_line(text, undefined[1], int(undefined[2])) or ""
        where = place or f"{undefined[1]}, line {undefined[2]}"
        return f"{where}: {undefined[3]}: in the {call}. Correct this line"
    if fault := _FAULT.search(ended.log):
        fix = "Use less memory" if fault[1] == "stack-overflow" else "Correct the index"
        return f"{_place(ended.log, text)}{_words(ended, fault)}: in the {call}. {fix}"
    status = ended.status
    name = signal.Signals(-status).name if status < 0 else f"status {status}"
    return f"{call}: ended the process ({name}). Correct an index or a division by zero"


def _words(ended: Ended, fault: re.Match[str]) -> str:
    kind, address = fault[1], fault[2]
    access = _ACCESS.search(ended.log)
    verb = "writes" if access is not None and access[1] == "WRITE" else "reads"
    if kind == "stack-overflow":
        return "needs too much stack: large local arrays, or infinite recursion"
    if local := _LOCAL.search(ended.log):
        side = "after the end" if local[2] == "over" else "before the start"
        return f"{verb} {side} of the local array {local[1]}"
    if address is None or not ended.arrays:
        return f"{verb} an address outside of all arrays ({kind})"
    distance, name, index = _nearest(ended, int(address, 16))
    length = ended.arrays[name][1]
    entry = f"data.{name}[{index}]" if name != "s" else f"s[{index}]"
    if distance >= _NEAR and ended.step in ("state", "cross") and kind == "use-after-poison":
        return f"{verb} an address beyond an array of State"
    if distance >= _NEAR:
        return f"{verb} an address outside of all arrays ({kind})"
    if name == "s" and ended.packs:
        return f"{verb} s[{32 * index}] or an item near it, which does not exist"
    return f"{verb} {entry}, but its length is {length} (0 to {length - 1})"


def _nearest(ended: Ended, address: int) -> tuple[int, str, int]:
    """Return the distance of the array that is nearest to an address, its name, and the index."""
    return min(
        (max(begin - address, address - begin - length * size, 0), name, (address - begin) // size)
        for name, (begin, length, size) in ended.arrays.items()
    )


def _place(log: str, text: str) -> str:
    """Return the first line of the user's code in a stack trace."""
    for name, line in re.findall(r"([\w.-]+):(\d+)(?::\d+)?\)?$", log, re.MULTILINE):
        if place := user_line(text, name, int(line)):
            return f"{place}: "
    return ""
