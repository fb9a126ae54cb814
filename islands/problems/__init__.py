"""The kinds of problems by name, and the one way to get an instance of any of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from islands.errors import InputError, UsageError
from islands.instances.catalogue import BestKnown
from islands.instances.locate import Found, find
from islands.problems.base import Problem
from islands.problems.qap import Qap
from islands.problems.tsp import Tsp

PROBLEMS: dict[str, type[Problem]] = {"tsp": Tsp, "qap": Qap}

_Reader = Callable[[Path, str, BestKnown | None], Problem]

_READERS: dict[str, _Reader] = {".tsp": Tsp.read, ".dat": Qap.read}
"""What reads a file of an instance, by its suffix without `.gz`."""

SUFFIXES = tuple(_READERS)


def load(instance: str) -> Problem:
    """Return the instance called `set/name`, a bare name where that is clear, or a path."""
    return read(find(instance, SUFFIXES))


def read(found: Found) -> Problem:
    """Return the instance in a file that was found, with what the catalogue knows of it."""
    path = found.file()
    entry = found.entry
    problem = _reader(path)(path, found.name, entry.best_known if entry else None)
    if entry is not None and problem.size != entry.size:
        raise InputError(
            f"{path}: has size {problem.size}, but {entry.full_name} has {entry.size}. "
            "Get the file again, or rename it or its folder if it is another instance"
        )
    return problem


def _reader(path: Path) -> _Reader:
    suffix = Path(path.name.removesuffix(".gz")).suffix
    if suffix not in _READERS:
        known = ", ".join(f"{each}, {each}.gz" for each in _READERS)
        raise UsageError(f"{path}: the suffix {suffix!r} is not known. Known: {known}")
    return _READERS[suffix]
