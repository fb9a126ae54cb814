"""All readers of files."""

from __future__ import annotations

from pathlib import Path

from fuzz_cases import Target
from fuzz_files import instances, models, solutions, words
from fuzz_records import records
from fuzz_settings import complete_settings


def targets(folder: Path) -> list[Target]:
    """Return all readers with valid files, some of which are written to the folder."""
    texts = [*complete_settings(folder), *words()]
    return [*instances(), *models(), *solutions(), *texts, *records(folder)]
