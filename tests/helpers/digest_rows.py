"""The runs of `tests/digests.csv`, and the command of each."""

import csv
import shlex
from pathlib import Path

TABLE = Path(__file__).parents[1] / "digests.csv"
_COMMON = "--seed 11 --interval 5 --migrants 2 --set record.every=7"
_USUAL = 23
"""Generations of runs that do not state how many."""


def rows() -> list[dict[str, str]]:
    """Return the rows of the table: each has a run and its digest."""
    with TABLE.open(newline="") as stream:
        return list(csv.DictReader(stream))


def options_of(run: str, generations: int | None = None) -> list[str]:
    """Return the arguments of `islands` for a run; `generations` replaces their usual number."""
    words = shlex.split(run)
    if generations is None and "--stop" in words:
        return ["run", *words, *shlex.split(_COMMON)]
    if "--stop" in words:
        at = words.index("--stop")
        del words[at : at + 2]
    return ["run", *words, *shlex.split(_COMMON), "--stop", f"generations={generations or _USUAL}"]
