"""Read NumPy arrays from a file that somebody else may have written."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import InputError
from islands.inside import opened
from islands.untrusted import parsing

_MOST_BYTES = 1 << 27
"""Of the arrays of a problem: more take too long or too much memory for a file of unknown origin.

A dense matrix of 4000 x 4000 has as many.
"""


class TooLargeError(InputError):
    """The arrays of a file are larger than is read."""


@contextmanager
def arrays_file(path: Path, *, is_compressed: bool = False) -> Iterator[Any]:
    """Yield the opened file, which has the arrays by name.

    Unless it `is_compressed`, refuse compressed arrays: few bytes may contain gigabytes.
    """
    with parsing(path), opened(path) as stream, np.load(stream, allow_pickle=False) as file:
        entries = file.zip.infolist()
        if not is_compressed and any(each.compress_type != zipfile.ZIP_STORED for each in entries):
            raise ValueError("it is compressed, as no run writes it")
        yield file


def read_arrays(path: Path, fix: str, most: int = _MOST_BYTES) -> dict[str, NDArray[Any]]:
    """Return all arrays of a file; refuse more than `most` bytes, with the fix."""
    with arrays_file(path, is_compressed=True) as file:
        size = sum(each.file_size for each in file.zip.infolist())
        if size > most:
            raise TooLargeError(f"{path}: its arrays have {size} bytes, more than {most}. {fix}")
        return {name: file[name] for name in file.files}
