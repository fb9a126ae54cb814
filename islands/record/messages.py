"""The longer error messages about folders of runs; each function returns an exception."""

import shlex
from collections.abc import Collection
from pathlib import Path

import islands
from islands.configuration.spec import FORMAT
from islands.errors import InputError, RunError, UntrustedError, UsageError
from islands.text import option


def foreign_files(folder: Path, noun: str) -> UsageError:
    """Return the error for a folder with files, but without work of the kind `noun`."""
    return UsageError(
        f"{option('out', folder)}: contains files, but no {noun}. Specify a new or empty folder, so"
        " that your files are not overwritten"
    )


def finished_run(folder: Path) -> UsageError:
    """Return the error for a folder with a finished run, which must not be overwritten."""
    return UsageError(
        f"{option('out', folder)}: contains a finished run. Specify another folder, or pass"
        f" {option('force', True)} to overwrite it"
    )


def resumable_run(folder: Path) -> UsageError:
    """Return the error for a folder with a run that can be resumed."""
    return UsageError(
        f"{option('out', folder)}: contains a run that can be resumed. Use: islands resume"
        f" {shlex.quote(str(folder))}; or pass {option('force', True)} to overwrite it"
    )


def other_format(folder: Path, written: str, version: str, repeat: str) -> InputError:
    """Return the error for a run with the format `written`; `repeat` is a command to repeat it."""
    return InputError(
        f"{folder}: has format {written}, written by islands {version}, but this is islands"
        f" {islands.__version__} with format {FORMAT}. Use the version that wrote it, or repeat the"
        f" run with: {repeat}"
    )


def untrusted_code(path: Path) -> UntrustedError:
    """Return the error for a stored problem with code that is neither signed nor trusted."""
    folder = path.parent
    return UntrustedError(
        f"{path}: contains code that you have not stored on this machine, or that was changed"
        f" since. Read it in {folder / 'parts'}; if you trust it, add --trust:"
        f" islands resume {shlex.quote(str(folder))} --trust (verify has --trust too)"
    )


def changed_settings(path: Path, mismatch: str) -> InputError:
    """Return the error for settings whose checksum does not match."""
    return InputError(
        f"{path}: {mismatch}. Restore it; or, if you changed it on purpose, remove its last line,"
        " or start a new run with: islands run --config"
    )


def other_parts(folder: Path, before: Collection[str], now: Collection[str]) -> InputError:
    """Return the error for a run that began with other parts from scripts."""
    gone, new = (
        ", ".join(sorted(parts)) or "no such part"
        for parts in ({*before} - {*now}, {*now} - {*before})
    )
    return InputError(
        f"{folder}: the run began with {gone}, but now has {new}. Use the original parts, or begin"
        " a new run"
    )


def changed_part(folder: Path, part: str, original: Path | None) -> InputError:
    """Return the error for a changed part; `original` is its stored header, if it has one."""
    what = f"the {'definition' if original is None else 'header'} of the {part}"
    then = "" if original is None else f"; the original is {original}"
    return InputError(
        f"{folder}: {what} has changed since the run began{then}. Restore the script or,"
        " for a problem from a file, the version of islands; or start a new run"
    )


def removed_folder(folder: Path) -> RunError:
    """Return the error for records in a folder that was removed."""
    return RunError(
        f"{folder}: no longer exists, and the records were in it. Keep the folder for as long as"
        " you need them"
    )


def incomplete_records(folder: Path) -> RunError:
    """Return the error for the records of a run without a result."""
    return RunError(
        f"{folder}: the run is not finished, or has found no feasible solution, so its records are"
        " incomplete. Continue it with islands resume, and a later --stop if it has ended"
    )
