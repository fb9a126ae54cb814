"""Folders of runs, without running."""

from __future__ import annotations

from pathlib import Path

from islands.configuration.spec import FORMAT, SIGN
from islands.record.claim import claim
from islands.record.lock import FolderLock


def claimed(folder: Path | None, *, force: bool = False) -> Path:
    with FolderLock() as lock:
        return claim(folder, name="zi929", force=force, lock=lock)


def finished(folder: Path) -> Path:
    """Return the folder with files of all kinds that runs write, and one of the user."""
    for name in (
        "solution.parquet",
        "solution.tour",
        "log.txt",
        "trace/rank-007.parquet",
        "trace/rank-1000.2.unfinished.arrows",
        "trace/.rank-007.parquet.x7",
        "migrations/rank-007.parquet",
        "migrations/rank-000.1.unfinished.arrows",
        "checkpoints/000000000100.1/manifest.json",
        "checkpoints/000000000100.1/rank-000.npz",
        "checkpoints/000000000100.2/.rank-000.npz.x7",
        ".run.toml.x7",
        ".solution.parquet.x7",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("old")
    (folder / "run.toml").write_text(f"{SIGN} 0.1.0, format {FORMAT}: --config repeats it.\n")
    (folder / "notes.txt").write_text("mine")
    return folder
