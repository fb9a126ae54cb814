"""Choose the page for folders: of a run, of several, of a series, a tuning or an experiment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from islands.errors import InputError, UsageError
from islands.paths import reading
from islands.record.folder import SETTINGS
from islands.report import tables
from islands.report.figure import style
from islands.report.page import Page
from islands.report.recorded import RecordedRun
from islands.report.several import page_of_several
from islands.report.single import page_of
from islands.series.ledger import LEDGER

_NAME_ONE = "Name the folder of a run, a series, a tuning or an experiment"
PAGE = "report.html"
"""The default name of a page."""


def page_for(folders: Sequence[Path], *, trusted: bool = False) -> Page:
    """Return the page of one folder, or of all runs in several folders."""
    with style():
        return _page_for(folders, trusted=trusted)


def _page_for(folders: Sequence[Path], *, trusted: bool) -> Page:
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"{folder}: no such folder. {_NAME_ONE}")
    if len(folders) == 1:
        folder = folders[0]
        with reading(folder):
            names = {path.name for path in folder.iterdir()}
        if SETTINGS in names:
            return page_of(RecordedRun.read(folder, trusted=trusted))
        if tables.TASKS in names:
            return tables.page_of_tuning(folder)
        if tables.SETTINGS in names:
            return tables.page_of_experiment(folder)
        inside = sorted(path.parent for path in folder.glob(f"*/{tables.SETTINGS}"))
        if inside and not any(folder.glob(f"*/{SETTINGS}")):
            return tables.page_of_experiments(folder, inside)
    paths = [path for folder in folders for path in runs_in(folder)]
    if len(paths) != len({path.resolve() for path in paths}):
        raise UsageError("a run is named twice. Name each folder once")
    runs, notes = _readable(paths, trusted=trusted)
    title = "Comparison" if len(folders) > 1 else f"Series in {folders[0].name or folders[0]}"
    return page_of_several(f"{title}: {len(runs)} runs", runs, notes)


def runs_in(folder: Path) -> Iterator[Path]:
    """Yield the folders of runs: the folder itself, or those inside it."""
    with reading(folder):
        if (folder / SETTINGS).exists():
            yield folder
            return
        inside = sorted(path.parent for path in folder.glob(f"*/{SETTINGS}"))
    if not inside:
        what = "a series without runs" if (folder / LEDGER).exists() else "no run"
        raise InputError(f"{folder}: holds {what}. {_NAME_ONE}")
    yield from inside


def _readable(paths: Sequence[Path], *, trusted: bool) -> tuple[list[RecordedRun], list[str]]:
    """Return the runs that can be read, and a note for each of the others."""
    runs, notes = [], []
    for path in paths:
        try:
            runs.append(RecordedRun.read(path, trusted=trusted, migrations=False))
        except InputError as error:
            notes.append(f"Left out: {error}")
    if not runs:
        raise InputError(notes[0].removeprefix("Left out: "))
    return runs, notes


def default_path(folders: Sequence[Path]) -> Path:
    """Return where a page is written by default."""
    return folders[0] / PAGE if len(folders) == 1 else Path(PAGE)
