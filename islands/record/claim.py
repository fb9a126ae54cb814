"""Claim the folder of a run for one process."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryFile

from islands.inside import inside
from islands.record.folder import FOLDERS, refuse_unfit, remove_earlier_run, unusable
from islands.record.lock import FolderLock


def claim(folder: Path | None, *, name: str, force: bool, lock: FolderLock) -> Path:
    """Return the folder for a run: the requested one without an earlier run, or a new one.

    The folder is locked on return.
    """
    refuse_unfit(folder, force=force)
    try:
        if folder is None:
            folder = fresh(Path("runs"), f"{name}-{time.strftime('%Y%m%d-%H%M%S')}")
            lock.take(folder)
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        _require_writable(folder)
        lock.take(folder)
        # Check again: another process may have used it until now.
        refuse_unfit(folder, force=force)
        remove_earlier_run(folder)
    except OSError as error:
        raise unusable(folder or Path("runs"), error) from error
    return folder


def fresh(parent: Path, name: str) -> Path:
    """Create a new folder; `mkdir` is atomic, so two runs never share one."""
    parent.mkdir(parents=True, exist_ok=True)
    number = 1
    while True:
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _require_writable(folder: Path) -> None:
    """Check that the folder can be written before an earlier run is removed."""
    for place in (folder, *(inside(folder, name) for name in FOLDERS)):
        if place.exists():
            with TemporaryFile(dir=place) as probe:
                probe.write(b"probe")
