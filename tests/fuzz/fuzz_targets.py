"""All readers of files."""

from __future__ import annotations

from pathlib import Path

from fuzz_cases import Target
from fuzz_files import instances, settings, solutions, words
from fuzz_records import records


def targets(folder: Path) -> list[Target]:
    """Return all readers with valid files, some of which are written to the folder."""
    return [*instances(), *solutions(), *settings(folder), *words(), *records(folder)]
