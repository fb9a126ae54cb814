"""A run's folder: no two runs share one, and no finished run is overwritten unasked."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

from islands.errors import UsageError

FINISHED = "solution.parquet"
"""The file that is written last: a folder that holds it is that of a finished run."""


def refuse_finished(folder: Path | None, *, force: bool) -> None:
    """Refuse the folder of a finished run, and what is not a folder."""
    if folder is None:
        return
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder}: is a file. Name a folder, which may be new")
    if (folder / FINISHED).exists() and not force:
        raise UsageError(
            f"--out {folder}: holds a finished run. Name another folder, or pass --force"
            " to overwrite it"
        )


def claim(folder: Path | None, *, name: str, force: bool) -> Path:
    """Return a folder for a run: the one asked for, emptied of an earlier run, or a fresh one."""
    refuse_finished(folder, force=force)
    try:
        if folder is None:
            return _fresh(Path("runs"), f"{name}-{time.strftime('%Y%m%d-%H%M%S')}")
        folder.mkdir(parents=True, exist_ok=True)
        _remove_earlier_run(folder)
    except OSError as error:
        raise UsageError(
            f"--out {folder or 'runs'}: {error.strerror}. Name a folder that can be written"
        ) from error
    return folder


def _fresh(parent: Path, name: str) -> Path:
    """Make a folder that was not there; making it is the test, so that two runs never share one."""
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


def _remove_earlier_run(folder: Path) -> None:
    """Remove what a run writes, and nothing else that a user may keep there."""
    # The sign of a finished run goes first: a folder half emptied must not look whole.
    for name in (FINISHED, "run.toml", "log.txt"):
        (folder / name).unlink(missing_ok=True)
    for solution in folder.glob("solution.*"):
        solution.unlink()
    shutil.rmtree(folder / "trace", ignore_errors=True)
