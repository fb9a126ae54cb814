"""Cases of a fuzz test: all that reads files is given damaged ones, and reads or refuses them.

A case is a whole file with a few changes that a counted draw chooses, so that case k is the same
wherever it is run.
"""

from __future__ import annotations

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
    """Something that reads a file: whole ones, and what reads those that are made of them."""

    name: str
    file: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], object]


@dataclass(frozen=True)
class Fault:
    """A case that was neither read nor refused as it should be."""

    target: str
    case: int
    what: str


def faults(targets: list[Target], folder: Path, cases: range) -> Iterator[Fault]:
    """Yield what goes wrong; case k is for the target whose turn it is."""
    most_bytes = _peak_bytes() + MOST_BYTES
    for case in cases:
        target = targets[case % len(targets)]
        draw = random.Random(case)
        content = changed(draw.choice(target.seeds), draw)
        path = folder / target.file
        path.write_bytes(content)
        began = time.process_time()  # others may be at work as well
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


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
