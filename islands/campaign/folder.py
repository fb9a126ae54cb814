"""Decide whether a folder may be used for a campaign: no other work and no user's file is lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from islands.errors import UsageError
from islands.paths import reading
from islands.record.folder import (
    BENCH,
    EXPERIMENT_SETTINGS,
    EXPERIMENTS_LOCK,
    JOB,
    LEDGER,
    SERIES_TABLE,
    TUNING_TABLE,
    FolderKind,
    kind_of,
    results_in,
)

_EXPERIMENTS = (FolderKind.EXPERIMENT, FolderKind.EXPERIMENTS)
_MARKS = {
    FolderKind.SERIES: (SERIES_TABLE, LEDGER),
    FolderKind.TUNING: (TUNING_TABLE, LEDGER),
    FolderKind.EXPERIMENT: (EXPERIMENT_SETTINGS, LEDGER),
    FolderKind.EXPERIMENTS: (EXPERIMENTS_LOCK,),
    FolderKind.MEASUREMENT: (BENCH, LEDGER),
}
"""Files that show that a campaign has begun in a folder; other files there are the user's."""


def refuse_unfit(folder: Path, kind: FolderKind, own: Collection[str] = ()) -> None:
    """Refuse a file, a folder with other work, and one with files but no work of this kind.

    `own` are names of files or folders that such a campaign may leave before its first result.
    Whether a campaign of this kind is the same one is for the caller to decide.
    """
    with reading(folder):
        if not folder.exists():
            return
        if not folder.is_dir():
            raise UsageError(f"--out {folder}: is a file. Name a new or existing folder")
        names = {path.name for path in folder.iterdir()}
        held = kind_of(folder)
        if held is FolderKind.MEASUREMENT and not (results_in(folder) or BENCH in names):
            held = None  # an experiment writes its settings after it has made its ledger
    alike = _EXPERIMENTS if kind in _EXPERIMENTS else (kind,)
    if names.intersection(_MARKS[kind]) and held in (None, *alike):
        return
    others = {name for name in names if not name.startswith(".")} - {*own, JOB}
    if held is not None and held not in alike:
        raise UsageError(
            f"--out {folder}: contains {held.words}, no {kind.noun}. Name a new folder"
        )
    if others:
        raise UsageError(
            f"--out {folder}: contains files, but no {kind.noun}. Name a new or empty folder, so"
            " that your files are not overwritten"
        )


def differing(kept: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that are not the same in a folder as in a request."""
    return [name for name in {**asked, **kept} if kept.get(name) != asked.get(name)]
