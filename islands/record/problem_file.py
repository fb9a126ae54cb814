"""The problem of a run, stored in its folder if no file of an instance contains it.

The file is signed with a key of this user on this machine, since it may contain code.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from islands.custom.trust import UntrustedError, sign
from islands.errors import InputError
from islands.inside import inside, opened
from islands.modelling.problem import restored
from islands.paths import published
from islands.problems.base import Problem
from islands.problems.saved import restored as restored_data
from islands.problems.saved import saved
from islands.record.arrays_file import TooLargeError, read_arrays
from islands.record.folder import PROBLEM
from islands.untrusted import parsing

_SIGNATURE = "signature"
_SIGNED_BYTES, _LONGEST_SIGNATURE = 32, 4096
"""The bytes of a signature, and at most those of its array with a header."""
_HEADER_BYTES = 1 << 12
"""More than a file has for an array besides its values."""
_TRUST = "If you made the folder, or trust it, add --trust"


def store_problem(folder: Path, problem: Problem) -> None:
    """Write the problem, unless it is read from a file of its own."""
    arrays = saved(problem)
    if arrays:
        signature = np.frombuffer(_signature(arrays), np.uint8)
        with published(inside(folder, PROBLEM)) as temporary, temporary.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **{_SIGNATURE: signature}, **arrays)


def signature_of(problem: Problem) -> str:
    """Return the signature of a problem that is stored with a run; empty if none is."""
    arrays = saved(problem)
    return _signature(arrays).hex() if arrays else ""


def stored_signature(folder: Path) -> str:
    """Return the signature in the folder of a run, without reading the problem; empty if none."""
    path = folder / PROBLEM
    with suppress(InputError), parsing(path), opened(path) as stream, ZipFile(stream) as file:
        member = file.getinfo(f"{_SIGNATURE}.npy")
        if member.file_size <= _LONGEST_SIGNATURE:
            return file.read(member)[-_SIGNED_BYTES:].hex()
    return ""


def has_problem(folder: Path) -> bool:
    """Return whether the folder contains the problem of its run."""
    return (folder / PROBLEM).is_file()


def is_stored(folder: Path, problem: Problem) -> bool:
    """Return whether the folder contains this problem, unchanged."""
    path, arrays = folder / PROBLEM, saved(problem)
    most = sum(array.nbytes + _HEADER_BYTES for array in arrays.values()) + _HEADER_BYTES
    try:
        stored = read_arrays(path, "It is another problem", most)
    except TooLargeError:
        return False
    stored.pop(_SIGNATURE, None)
    return stored.keys() == arrays.keys() and all(
        np.array_equal(stored[name], arrays[name]) for name in arrays
    )


def stored_problem(folder: Path, *, trusted: bool = False) -> Problem:
    """Return the problem stored in a run's folder.

    Refuse code that this user has not stored on this machine, unless it is `trusted`.
    """
    path = folder / PROBLEM
    arrays = read_arrays(path, _TRUST, sys.maxsize) if trusted else read_arrays(path, _TRUST)
    with parsing(path):
        signature = arrays.pop(_SIGNATURE).tobytes()
    with parsing(path):
        if (data := restored_data(arrays)) is not None:
            return data  # without code
    if not trusted and not hmac.compare_digest(signature, _signature(arrays)):
        raise UntrustedError(
            f"{path}: contains code that you have not stored on this machine, or that was changed"
            f" since. Read it in {folder / 'parts'}; if you trust it, add --trust:"
            f" islands resume {shlex.quote(str(folder))} --trust (verify has --trust too)"
        )
    with parsing(path):
        return restored(arrays)


def _signature(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return what only this user on this machine can compute for these arrays."""
    content = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        content.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        content.update(array.tobytes())
    return sign(content.digest())
