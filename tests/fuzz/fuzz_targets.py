"""All that reads files."""

from __future__ import annotations

from pathlib import Path

from fuzz_cases import Target
from fuzz_files import instances, settings, solutions, words
from fuzz_records import records


def targets(folder: Path) -> list[Target]:
    """Return all readers, with whole files, some of which have to lie in the folder."""
    return [*instances(), *solutions(), *settings(folder), *words(), *records(folder)]
