"""The files of generated sets, such as `dimacs`, in the cache of the user."""

from collections.abc import Callable
from pathlib import Path

from islands.instances import dimacs, grids
from islands.instances.catalogue import Entry
from islands.paths import CACHE_ELSEWHERE, cache_folder, publish

_TEXTS: dict[str, Callable[[str, int], str]] = {"dimacs": dimacs.text, "grids": grids.text}
"""For each set, the function that returns the text of an instance, given its name and size."""


def file_of(entry: Entry) -> Path:
    """Return the file of an instance; write it first if it does not exist."""
    path = cache_folder(f"instances/{entry.set}") / entry.file
    if path.exists() and path.stat().st_size == entry.bytes:
        return path
    publish(path, _TEXTS[entry.set](entry.name, entry.size), CACHE_ELSEWHERE)
    return path
