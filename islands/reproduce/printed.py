"""What a paper printed, from the CSV files beside its module."""

from __future__ import annotations

import csv
from pathlib import Path


def mean_in_words(mean: float, printed: float, form: str, *, is_whole: bool) -> str:
    """Return the mean of some of a paper's rows, and what it prints where these are all of them.

    The two may differ: papers cut means off, and have misprints.
    """
    return f"{mean:{form}} (printed: {printed:{form}})" if is_whole else f"{mean:{form}}"


def read_printed(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file, whose comments name the source."""
    text = path.read_text(encoding="utf-8")
    return list(csv.DictReader(row for row in text.splitlines() if not row.startswith("#")))
