"""What a folder holds: a run, a series of runs, a tuning, an experiment or a measurement."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from islands.inside import inside, line_breaks

SETTINGS = "run.toml"
"""The settings of a run, the first file in its folder."""
SERIES, TUNING = "runs.tsv", "tune.tsv"
"""The tables of a series and of a tuning."""
EXPERIMENT, RESULTS = "settings.toml", "runs.jsonl"
"""The settings of an experiment, and the results of its runs, or of those of a measurement."""
MOST_RESULTS = 1 << 28
"""Bytes of the results that are read; those of 100000 runs have fewer."""
PROVENANCE = "provenance.json"
"""What made the tables of an experiment or a tuning: the date, the commit, and the versions."""
BENCH = "bench.json"
"""All tables of a measurement, the last file that it writes."""
RANKING, CONCLUSION, BEST = "ranking.tsv", "ranking.txt", "best.toml"
"""The results of a tuning; the second is the ranking as it was printed."""
SERIES_LOCK, TUNING_LOCK = f".{SERIES}.lock", f".{TUNING}.lock"
EXPERIMENTS_LOCK = ".experiments.lock"


class Kind(Enum):
    """What a folder holds, in words."""

    RUN = "a run"
    SERIES = "a series of runs"
    TUNING = "a tuning"
    EXPERIMENT = "an experiment of islands reproduce"
    EXPERIMENTS = "experiments of islands reproduce"
    MEASUREMENT = "a measurement of islands bench"

    @property
    def lock(self) -> str:
        """The file that the process at work has locked; not of a run, which locks its log."""
        return _LOCKS[self]


_LOCKS = {
    Kind.SERIES: SERIES_LOCK,
    Kind.TUNING: TUNING_LOCK,
    Kind.EXPERIMENT: RESULTS,
    Kind.EXPERIMENTS: EXPERIMENTS_LOCK,
    Kind.MEASUREMENT: RESULTS,
}


def kind_of(folder: Path) -> Kind | None:
    """Return what a folder holds, or None if it is nothing of this program."""
    marks = {
        Kind.RUN: (SETTINGS,),
        Kind.TUNING: (TUNING, TUNING_LOCK),
        Kind.EXPERIMENT: (EXPERIMENT,),
        Kind.EXPERIMENTS: (EXPERIMENTS_LOCK,),
        Kind.SERIES: (SERIES, SERIES_LOCK),
    }
    for kind, names in marks.items():
        if any((folder / name).is_file() for name in names):
            return kind
    if any(runs_in(folder)):
        return Kind.SERIES
    if any(experiments_in(folder)):
        return Kind.EXPERIMENTS
    # An experiment writes its settings at once after it has opened the file of results.
    is_measurement = any((folder / name).is_file() for name in (BENCH, RESULTS))
    return Kind.MEASUREMENT if is_measurement else None


def results_in(folder: Path) -> int:
    """Return the number of complete lines in the file of results."""
    path = inside(folder, RESULTS)
    return line_breaks(path, MOST_RESULTS) if path.is_file() else 0


def runs_in(folder: Path) -> Iterator[Path]:
    """Yield the folders of the runs of a series, in alphabetical order."""
    yield from _with(folder, SETTINGS)


def experiments_in(folder: Path) -> Iterator[Path]:
    """Yield the folders of the experiments of several papers, in alphabetical order."""
    yield from _with(folder, EXPERIMENT)


def _with(folder: Path, name: str) -> list[Path]:
    """Return the folders in a folder that contain a file of this name."""
    return [inside(folder, path.parent.name) for path in sorted(folder.glob(f"*/{name}"))]


def not_a_run(folder: Path) -> str:
    """Return what a folder without a run contains, and what to do with it; empty if nothing."""
    kind, place = kind_of(folder), shlex.quote(str(folder))
    if kind in (None, Kind.RUN):
        return ""
    assert kind is not None
    look = f"Look at it with: islands report {place}"
    if kind is Kind.SERIES:
        run = next(runs_in(folder), folder / "NAME-seed1")
        look = f"Name one of its runs, such as {run}"
    if kind is Kind.MEASUREMENT:
        look = f"Its tables are in {folder / BENCH}, as soon as it is complete"
    again = f"to continue, repeat its command with --out {place}"
    return f"contains {kind.value}, not a run. {look}; {again}"
