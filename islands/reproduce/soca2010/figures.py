"""The printed figures: ten runs on a GeForce 9800 GTX+ and on one core of a Pentium."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from islands.reproduce.cells import read_printed

INTERPRETATIONS = (
    "the fitness of the proportional selection is not stated: 1 / (1 + cost)",
    "the threads of a block share random decisions: here 64 consecutive individuals do",
    "the best individual may be lost, as in the paper; it is stored separately, and counts",
)
"""What was chosen where the paper is silent."""


@dataclass(frozen=True)
class QualityFigures:
    """Hits and gap of ten runs on one instance (table II).

    The hits cannot all be correct: on esc16f every assignment costs 0, but six hits are printed.
    """

    hits: int
    gap: float
    """In per cent; apparently of the best run."""


@dataclass(frozen=True)
class Seconds:
    """The time of a run (table III)."""

    gpu: float
    cpu: float
    speedup: float


@cache
def quality() -> Mapping[str, QualityFigures]:
    """Return table II by instance."""
    rows = read_printed(Path(__file__).with_name("quality.csv"))
    return {row["instance"]: QualityFigures(int(row["hits"]), float(row["gap"])) for row in rows}


@cache
def performance() -> Mapping[str, Seconds]:
    """Return table III by instance; two of its instances are not in table II."""
    rows = read_printed(Path(__file__).with_name("performance.csv"))
    names = ("gpu_seconds", "cpu_seconds", "speedup")
    return {row["instance"]: Seconds(*(float(row[name]) for name in names)) for row in rows}
