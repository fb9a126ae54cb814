"""The state of a series, a tuning or an experiment that no job makes."""

from __future__ import annotations

import shlex
from pathlib import Path

from islands.errors import InputError
from islands.record.kind import BEST, RANKING, SERIES, Kind, kind_of, runs_in
from islands.record.lock import is_locked
from islands.record.work import read_work
from islands.text import counted


def state_words(folder: Path) -> tuple[str, str]:
    """Return the state of the work in a folder, in one word and in a sentence."""
    kind = kind_of(folder)
    if kind is None:
        raise InputError(
            f"{folder}: contains no run, series, tuning, experiment or submitted job. Name the"
            " folder of one"
        )
    work = read_work(folder)
    if is_locked(folder, kind.lock) or _has_running_run(folder, kind):
        return "running", f"{kind.value}: {work}" if work is not None else kind.value
    if work is None and not (kind is Kind.TUNING and not (folder / RANKING).exists()):
        return "done", f"{kind.value}; {_outcome(folder, kind)}"
    at = "" if work is None else f" at {work.words}"
    again = f"to go on, repeat its command with --out {shlex.quote(str(folder))}"
    return "stopped", f"{kind.value}{at}; {again}"


def _has_running_run(folder: Path, kind: Kind) -> bool:
    """Return whether a run in the folder is running, perhaps without being part of a series."""
    return kind is Kind.SERIES and any(is_locked(run) for run in runs_in(folder))


def _outcome(folder: Path, kind: Kind) -> str:
    """Return where the results are."""
    if kind is Kind.SERIES:
        table = folder / SERIES
        return f"table: {table}" if table.exists() else counted(len([*runs_in(folder)]), "run")
    if kind is Kind.TUNING:
        return f"ranking: {folder / RANKING}; best: {folder / BEST}"
    pages = folder / "report.html"
    return f"page: {pages}" if pages.exists() else f"tables: {folder}"
