"""A run's folder: no two runs share one, and nothing but an earlier run is ever overwritten."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile

from islands.errors import UsageError, system_reason
from islands.problems import PROBLEMS
from islands.run.spec import SIGN

SETTINGS = "run.toml"
"""The file that is written first: a folder that holds one of ours is that of a run."""
LOG = "log.txt"
TRACE = "trace"
"""The folder in it with a file a rank."""
UNFINISHED = ".unfinished.arrows"
"""The suffix of a rank's trace while its run lasts."""
FINISHED = "solution.parquet"
"""The file that is written last: a folder that holds it is that of a finished run."""


def refuse_unfit(folder: Path | None, *, force: bool) -> None:
    """Refuse what is not a folder, one with files of others, and without `force` a finished run."""
    if folder is None:
        return
    try:
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"--out {folder}: is a file. Name a folder, which may be new")
        if folder.exists() and any(folder.iterdir()) and not _is_of_a_run(folder):
            raise UsageError(
                f"--out {folder}: holds files, but no run. Name a folder that is new or empty,"
                " so that nothing of yours is overwritten"
            )
        if (folder / FINISHED).exists() and not force:
            raise UsageError(
                f"--out {folder}: holds a finished run. Name another folder, or pass --force"
                " to overwrite it"
            )
    except OSError as error:
        raise _unusable(folder, error) from error


def claim(folder: Path | None, *, name: str, force: bool) -> Path:
    """Return a folder for a run: the one asked for, emptied of an earlier run, or a fresh one."""
    refuse_unfit(folder, force=force)
    try:
        if folder is None:
            return _fresh(Path("runs"), f"{name}-{time.strftime('%Y%m%d-%H%M%S')}")
        folder.mkdir(parents=True, exist_ok=True)
        _require_writable(folder)
        _remove_earlier_run(folder)
    except OSError as error:
        raise _unusable(folder or Path("runs"), error) from error
    return folder


def _unusable(folder: Path, error: OSError) -> UsageError:
    return UsageError(f"--out {folder}: {system_reason(error)}. Name a folder that can be written")


def _is_of_a_run(folder: Path) -> bool:
    settings = folder / SETTINGS
    if not settings.is_file():
        return False
    with settings.open("rb") as stream:
        return stream.read(len(SIGN)) == SIGN.encode()


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


def _require_writable(folder: Path) -> None:
    """Write where the run will, so that an earlier one is not removed for a run that cannot be."""
    for place in (folder, folder / TRACE):
        if place.exists():
            with TemporaryFile(dir=place) as probe:
                probe.write(b"probe")


def _remove_earlier_run(folder: Path) -> None:
    """Remove the files that runs write, and nothing else that a user may keep there."""
    for path in _files_of_a_run(folder):
        path.unlink(missing_ok=True)
    trace = folder / TRACE
    if trace.is_dir() and not any(trace.iterdir()):
        trace.rmdir()


def _files_of_a_run(folder: Path) -> Iterator[Path]:
    # The sign of a finished run goes first: a folder half emptied must not look whole. The sign of
    # a run goes last: what is left of it must not look like a user's own files.
    yield folder / FINISHED
    yield from (folder / f"solution{kind.solution_suffix}" for kind in PROBLEMS.values())
    yield folder / LOG
    for suffix in (".parquet", UNFINISHED):
        yield from sorted((folder / TRACE).glob(f"rank-[0-9]*{suffix}"))
    yield folder / SETTINGS
