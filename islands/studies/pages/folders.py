"""Choose the page that shows given folders: runs, a series, a tuning or an experiment."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from islands.errors import InputError, UsageError
from islands.inside import inside
from islands.paths import reading
from islands.record import folder as records
from islands.record.folder import FolderKind
from islands.record.folder import runs_in as runs_inside
from islands.report.figure import style
from islands.report.page import Page, note, require_html, require_packages
from islands.report.recorded import RecordedRun
from islands.report.single import page_of
from islands.studies.pages.campaigns import page_of_experiment, page_of_experiments, page_of_tuning
from islands.studies.pages.comparison import page_of_several
from islands.text import counted, escaped

_SPECIFY_ONE = "Specify the folder of a run, a series, a tuning or an experiment"
_NAMED = 4
"""Maximum number of runs whose folders are named in a message."""
_SHARE = 0.1
"""Maximum share of the time that is spent on drawing a live page."""


def page_for(
    folders: Sequence[Path],
    *,
    moved: str | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Page:
    """Return the page of one folder, or of all runs in several folders.

    `say` receives a line with the runs that a page compares. `moved` names the instance or the
    script of a single run if it has moved.
    """
    for folder in folders:
        if not folder.is_dir():
            what = "not a folder" if folder.exists() else "no such folder"
            raise InputError(f"{folder}: {what}. {_SPECIFY_ONE}")
    folder, kind = folders[0], None
    if len(folders) == 1:
        with reading(folder):
            kind = records.kind_of(folder)
    if moved is not None and kind is not FolderKind.RUN:
        raise UsageError(f"--instance {moved}: is for the page of a run. Specify the folder of one")
    with style():
        if kind is FolderKind.RUN:
            run = RecordedRun.read(folder, moved=moved)
            for warning in run.notes:
                say(f"islands: {warning}")
            return page_of(run)
        if kind is FolderKind.TUNING:
            return page_of_tuning(folder)
        if kind is FolderKind.EXPERIMENT:
            if (folder / records.EXPERIMENT_SETTINGS).exists():
                return page_of_experiment(folder)
            return page_of_experiments(folder, [*records.experiments_in(folder)])
        return _page_of_runs(folders, say)


def _page_of_runs(folders: Sequence[Path], say: Callable[[str], None]) -> Page:
    paths = [path for folder in folders for path in runs_in(folder)]
    if len(paths) != len({path.resolve() for path in paths}):
        raise UsageError("a run is named twice. Specify each folder once")
    runs, notes = [], []
    for path in paths:
        try:
            runs.append(RecordedRun.read(path, migrations=False))
        except InputError as error:
            notes.append(f"Left out: {error}")
    if not runs:
        raise InputError(notes[0].removeprefix("Left out: "))
    for warning in (warned := [warning for run in runs for warning in run.notes]):
        say(f"islands: {warning}")
    names = [escaped(str(run.folder), kept="") for run in runs]
    others = [f"{len(names) - _NAMED} others"] if len(names) > _NAMED + 1 else names[_NAMED:]
    say(f"The page compares {counted(len(runs), 'run')}: {', '.join([*names[:_NAMED], *others])}")
    title = "Comparison" if len(folders) > 1 else f"Series in {folders[0].name or folders[0]}"
    return page_of_several(f"{title}: {len(runs)} runs", runs, [*notes, *warned])


def runs_in(folder: Path) -> Iterator[Path]:
    """Yield the folders of runs: the folder itself, or those inside it."""
    with reading(folder):
        if (folder / records.RUN_SETTINGS).exists():
            yield folder
            return
        inside = [*runs_inside(folder)]
    if not inside:
        kind = records.kind_of(folder)
        if kind in (FolderKind.TUNING, FolderKind.EXPERIMENT):
            raise InputError(
                f"{folder}: contains {kind.words}, which has its own page. Specify only this folder"
            )
        what = "no run"
        if kind not in (None, FolderKind.RUN):
            where = records.results_of(folder, kind)
            what = "; ".join(filter(None, [f"{kind.words} without folders of runs", where]))
        raise InputError(f"{folder}: contains {what}. {_SPECIFY_ONE}")
    yield from inside


def default_path(folders: Sequence[Path]) -> Path:
    """Return the default path of a page."""
    return inside(folders[0], records.PAGE) if len(folders) == 1 else Path(records.PAGE)


class LivePage:
    """The page of a folder, which browsers reload until the work in the folder ends."""

    def __init__(self, folder: Path, path: Path, seconds: float) -> None:
        """Reject a `path` that is not an HTML file; it is written at most once every `seconds`."""
        require_html("--page", path)
        kind = records.kind_of(folder)
        if kind in (FolderKind.BATCH, FolderKind.MEASUREMENT):
            raise UsageError(f"--page: {folder} contains {kind.words}, which has no page. Omit it")
        if kind is None and path.absolute().parent.resolve() == folder.resolve():
            # A run rejects a folder that contains other files.
            raise UsageError(f"--page {path}: is in a folder without results. Specify another path")
        require_packages()
        self._folder, self._path, self._seconds = folder, path, seconds
        self._due, self._has_content = -math.inf, False

    def update(self, *, is_final: bool) -> None:
        """Write the page if it is due or final; the final page is not reloaded.

        Before the first run begins, the page is a note. If reading fails later, the page is kept.
        """
        began = time.monotonic()
        if began < self._due and not is_final:
            return
        try:
            page = page_for([self._folder])
            self._has_content = True
        except InputError as error:
            if self._has_content and not is_final:
                return
            page = Page(self._folder.name or str(self._folder))
            page.add(note(str(error) if is_final else "No run has begun in this folder yet."))
        pause = max(self._seconds, (time.monotonic() - began) / _SHARE)
        page.reload = None if is_final else max(1, math.ceil(pause))
        page.write(self._path)
        self._due = time.monotonic() + pause
