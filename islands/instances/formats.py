"""Which format a file has, told by its suffix or, of those that share `.dat`, by its numbers."""

from __future__ import annotations

from pathlib import Path

from islands.errors import UsageError
from islands.instances.dat import of_numbers
from islands.paths import suffix_of
from islands.text import option

FORMATS = ("tsplib", "qaplib", "orlib", "sac94", "drake")

OF_SUFFIX = {".tsp": "tsplib", ".dat": "", ".qap": "qaplib", ".txt": "orlib"}
"""The format of files with a suffix, which `.gz` may follow; empty where they have to be read."""


def recognised(path: Path) -> str:
    """Return the format of a file."""
    suffix = suffix_of(path.name)
    if suffix not in OF_SUFFIX:
        known = ", ".join(f"{each}, {each}.gz" for each in OF_SUFFIX)
        raise UsageError(
            f"{path}: the suffix {suffix!r} is not known. Known: {known}; or name the format with"
            f" {option('format', list(FORMATS))}"
        )
    return OF_SUFFIX[suffix] or of_numbers(path)
