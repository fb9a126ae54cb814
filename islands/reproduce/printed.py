"""What a paper printed, from the CSV files beside its module."""

from __future__ import annotations

import csv
from pathlib import Path


def read_printed(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file, whose comments name the source."""
    text = path.read_text(encoding="utf-8")
    return list(csv.DictReader(row for row in text.splitlines() if not row.startswith("#")))
