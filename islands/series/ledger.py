"""`runs.tsv`: one row per run of a series, with its result and all settings."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from islands.paths import reading
from islands.progress.result import Result
from islands.record.files import Row, read_table, write_table
from islands.record.folder import SERIES, SETTINGS
from islands.record.inputs import read_settings

LEDGER = SERIES
COLUMNS = (
    *("instance", "gap", "evaluations", "seconds", "cost", "solution", "backend", "device"),
    *("started", "seed", "generations", "reason", "digest", "settings"),
    *("bound", "bound_gap", "bound_kind"),
)


def row_of(result: Result) -> Row:
    """Return the row of a completed run; it is the same each time it is built."""
    settings = Path(str(result.folder), SETTINGS)
    asked = read_settings(settings.parent)
    with reading(settings):
        # The settings are written when a run begins or is resumed.
        started = datetime.fromtimestamp(settings.stat().st_mtime, UTC).astimezone()
    cells = {
        "instance": result.instance,
        "gap": result.gap,
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "cost": result.cost,
        "solution": " ".join(map(str, result.items() or [])),
        "backend": result.backend,
        "device": result.device,
        "started": started.isoformat(timespec="seconds"),
        "seed": result.seed,
        "generations": result.generations,
        "reason": result.reason,
        "digest": result.digest,
        "settings": json.dumps(asked),
        "bound": result.bound,
        "bound_gap": result.bound_gap,
        "bound_kind": result.bound_kind,
    }
    return {name: "" if cells[name] is None else str(cells[name]) for name in COLUMNS}


def read_rows(folder: Path) -> list[Row]:
    """Return the rows so far, none without a table; refuse a table of something else."""
    return read_table(folder / LEDGER, COLUMNS, "runs")


def holds(folder: Path, instance: str, seed: int) -> bool:
    """Return whether the table contains this run with a solution."""
    return any(_run(row) == (instance, str(seed)) and row["cost"] for row in read_rows(folder))


def enter(folder: Path, row: Row) -> None:
    """Add the row of a run, or replace its earlier row."""
    rows = {_run(each): each for each in read_rows(folder)}
    if rows.get(_run(row)) != row:
        write_table(folder / LEDGER, COLUMNS, (rows | {_run(row): row}).values())


def _run(row: Row) -> tuple[str, str]:
    return row["instance"], row["seed"]
