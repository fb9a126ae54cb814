"""Keep one measurement in a folder of `islands bench --out`; no other work is overwritten."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from islands.bench.base import BenchRequest
from islands.campaign.folder import refuse_unfit
from islands.errors import UsageError
from islands.record.folder import BENCH, FolderKind
from islands.untrusted import bounded_text, parsing

PROVENANCE = "provenance"
"""The key of what made the tables in it."""
MEASUREMENT = "measurement"
"""The key of what was measured, in the provenance."""
_MOST_BYTES = 1 << 24
"""Of the tables of a measurement."""
_DEFINING = ("of", "variant", "mixes", "colony", "instances")
"""Options that make another measurement; with other ones, it is continued or made again."""


def measurement(benchmarks: Sequence[str], request: BenchRequest) -> dict[str, list[str]]:
    """Return what is measured, as JSON has it."""
    options = {name: list(getattr(request, name)) for name in _DEFINING}
    return {"benchmarks": sorted(benchmarks), **options}


def refuse_other_work(folder: Path, mine: dict[str, list[str]]) -> None:
    """Refuse a file, and a folder with another measurement or with anything else."""
    refuse_unfit(folder, FolderKind.MEASUREMENT)
    if not (folder / BENCH).exists():
        return
    made = _made(folder / BENCH)
    if made.get(MEASUREMENT) != mine:
        command = shlex.join(["islands", *map(str, made.get("command", ()))])
        raise UsageError(
            f"--out {folder}: contains another measurement: {command}. Name a new folder"
        )


def _made(path: Path) -> dict[str, Any]:
    """Return the provenance in a file."""
    text = bounded_text(path, _MOST_BYTES)
    with parsing(path, "is not the output of islands bench", "Name a new folder"):
        return dict(json.loads(text)[PROVENANCE])
