"""Claim the folder of a run for one process."""

import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile

from islands.inside import inside
from islands.record.folder import FOLDERS, reject_unfit, remove_earlier_run, unusable
from islands.record.lock import FolderLock

_LONGEST_NAME = 50
"""Maximum number of characters of `name` in a folder's name, which may have 255 bytes."""


def claim(folder: Path | None, *, name: str, force: bool, lock: FolderLock) -> Path:
    """Create and lock the folder of a run; remove an earlier run from an existing folder."""
    reject_unfit(folder, force=force)
    try:
        if folder is None:
            date = time.strftime("%Y%m%d-%H%M%S")
            folder = fresh(Path("runs"), f"{name[:_LONGEST_NAME]}-{date}")
            lock.acquire(folder)
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        _require_writable(folder)
        lock.acquire(folder)
        # Check again, as another process may have used it before it was locked.
        reject_unfit(folder, force=force)
        remove_earlier_run(folder)
    except OSError as error:
        raise unusable(folder or Path("runs"), error) from error
    return folder


def fresh(parent: Path, name: str) -> Path:
    """Create a folder with this name, or with a number appended if it exists.

    As `mkdir` is atomic, two runs never get the same folder.
    """
    parent.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            folder.mkdir()
            break
    return folder


def _require_writable(folder: Path) -> None:
    """Check that the folder can be written before an earlier run is removed."""
    for path in (folder, *(inside(folder, name) for name in FOLDERS)):
        if path.exists():
            with TemporaryFile(dir=path) as probe:
                probe.write(b"probe")
