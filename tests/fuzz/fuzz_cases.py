"""Cases of a fuzz test: each reader gets damaged files, and reads or rejects them.

A case is a valid file with a few random changes. The random numbers depend only on the case
number, so that case k is the same everywhere.
"""

import random
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fuzz_changes import changed

from islands.errors import CompileError, IslandsError

MOST_SECONDS = 5.0
MOST_BYTES = 2 << 30


@dataclass(frozen=True)
class Target:
    name: str
    file: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]
    change: Callable[[bytes, random.Random], bytes] = changed
    """Returns the content with a few changes."""


@dataclass(frozen=True)
class Fault:
    """A case that was neither read nor rejected correctly."""

    target: str
    case: int
    what: str


def faults(targets: list[Target], folder: Path, cases: range) -> Iterator[Fault]:
    """Yield the faults; cases are assigned to targets in turn."""
    most_bytes = _peak_bytes() + MOST_BYTES
    for case in cases:
        target = targets[case % len(targets)]
        draw = random.Random(case)
        content = target.change(draw.choice(target.seeds), draw)
        path = folder / target.file
        _write(path, content)
        began = time.process_time()  # excludes time of other processes
        try:
            target.read(path)
        except IslandsError as error:
            if not str(error).isprintable() and not isinstance(error, CompileError):
                yield Fault(target.name, case, f"an error that is not one line: {str(error)!r}")
        except Exception as error:
            yield Fault(target.name, case, f"{type(error).__name__}: {error}")
        seconds = time.process_time() - began
        if seconds > MOST_SECONDS:
            yield Fault(target.name, case, f"took {seconds:.1f} s")
        if _peak_bytes() > most_bytes:
            yield Fault(target.name, case, "took more than 2 GB")
            return


def _write(path: Path, content: bytes) -> None:
    """Write a file in place: `write_bytes` empties it first, for which ext4 needs a millisecond."""
    path.touch()
    with path.open("r+b") as file:
        file.write(content)
        file.truncate()


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
