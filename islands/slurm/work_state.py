"""The state of a series, a tuning, an experiment or a measurement outside of jobs."""

from __future__ import annotations

import shlex
from pathlib import Path

from islands.display.heartbeat import read_work
from islands.errors import InputError
from islands.record.folder import (
    BENCH,
    BEST,
    RANKING,
    SERIES_TABLE,
    Kind,
    kind_of,
    results_in,
    runs_in,
)
from islands.record.lock import is_locked
from islands.text import counted

_LAST = {Kind.TUNING: RANKING, Kind.MEASUREMENT: BENCH}
"""The file that completes the work; other kinds are complete when no piece is in progress."""


def state_words(folder: Path) -> tuple[str, str]:
    """Return the state of the work in a folder, in one word and in a sentence."""
    kind = kind_of(folder)
    if kind is None:
        raise InputError(
            f"{folder}: contains no run, series, tuning, experiment, measurement or submitted job."
            " Name the folder of one"
        )
    work, made = read_work(folder), ""
    if kind is Kind.MEASUREMENT and (runs := results_in(folder)):
        made = f"; {counted(runs, 'run')} so far"
    if is_locked(folder, kind.lock) or _has_running_run(folder, kind):
        return "running", (f"{kind.value}: {work}" if work is not None else kind.value) + made
    last = _LAST.get(kind)
    if work is None and (last is None or (folder / last).exists()):
        return "done", f"{kind.value}; {_outcome(folder, kind)}"
    at = ("" if work is None else f" at {work.words}") + made
    again = f"to continue, repeat its command with --out {shlex.quote(str(folder))}"
    return "stopped", f"{kind.value}{at}; {again}"


def _has_running_run(folder: Path, kind: Kind) -> bool:
    """Return whether a run in the folder is running, perhaps without being part of a series."""
    return kind is Kind.SERIES and any(is_locked(run) for run in runs_in(folder))


def _outcome(folder: Path, kind: Kind) -> str:
    """Return where the results are."""
    if kind is Kind.SERIES:
        table = folder / SERIES_TABLE
        return f"table: {table}" if table.exists() else counted(len([*runs_in(folder)]), "run")
    if kind is Kind.TUNING:
        return f"ranking: {folder / RANKING}; best: {folder / BEST}"
    if kind is Kind.MEASUREMENT:
        runs = results_in(folder)
        made = f"{counted(runs, 'run')}; " if runs else ""
        return f"{made}tables: {folder / BENCH}"
    pages = folder / "report.html"
    return f"page: {pages}" if pages.exists() else f"tables: {folder}"
