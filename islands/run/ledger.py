"""`runs.tsv`: a row a run of a series, with its result and all its settings."""

from __future__ import annotations

import csv
import hashlib
import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from islands.errors import InputError
from islands.paths import published, reading
from islands.run.folder import SETTINGS
from islands.run.result import Result
from islands.run.settings_file import read_settings
from islands.untrusted import MISMATCH, parsing

LEDGER = "runs.tsv"
COLUMNS = (
    *("instance", "gap", "evaluations", "seconds", "cost", "solution", "backend", "device"),
    *("started", "seed", "generations", "reason", "digest", "settings", "sha256"),
)
"""The last one is the checksum of the others."""

Row = dict[str, str]

# The solution of a large instance is one field.
csv.field_size_limit(sys.maxsize)


def row_of(result: Result) -> Row:
    """Return the row of a run that has ended, which says the same whenever it is made."""
    settings = Path(str(result.folder), SETTINGS)
    asked = read_settings(settings.parent)
    with reading(settings):
        # They are written when a run begins, or goes on.
        started = datetime.fromtimestamp(settings.stat().st_mtime, UTC).astimezone()
    cells = {
        "instance": result.instance,
        "gap": result.gap,
        "evaluations": result.evaluations,
        "seconds": result.seconds,
        "cost": result.cost,
        "solution": " ".join(map(str, result.things() or [])),
        "backend": result.backend,
        "device": result.device,
        "started": started.isoformat(timespec="seconds"),
        "seed": result.seed,
        "generations": result.generations,
        "reason": result.reason,
        "digest": result.digest,
        "settings": json.dumps(asked),
    }
    row = {name: "" if value is None else str(value) for name, value in cells.items()}
    return row | {"sha256": _checksum(row)}


def read_rows(folder: Path) -> list[Row]:
    """Return the rows so far, none where there is no table; refuse one of somebody else's."""
    path = folder / LEDGER
    with reading(path):
        if not path.exists():
            return []
    with parsing(path), path.open(newline="", encoding="utf-8") as stream:
        reader = csv.DictReader(stream, dialect="excel-tab", restval="")
        rows = list(reader)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise InputError(
                f"{path}: is no table of runs, whose columns are {', '.join(COLUMNS)}."
                " Remove it, or name another folder"
            )
    for number, row in enumerate(rows, 1):
        if len(row) > len(COLUMNS) or row["sha256"] != _checksum(row):
            raise InputError(
                f"{path}: row {number}: {MISMATCH}. Remove the row: its run's folder has it still"
            )
    return rows


def _checksum(row: Row) -> str:
    """Return the SHA-256 of all that a row says."""
    cells = json.dumps([row[name] for name in COLUMNS[:-1]])
    return hashlib.sha256(cells.encode()).hexdigest()


def holds(folder: Path, instance: str, seed: int) -> bool:
    """Return whether the table has a row of this run with a solution."""
    return any(_run(row) == (instance, str(seed)) and row["cost"] for row in read_rows(folder))


def enter(folder: Path, row: Row) -> None:
    """Put the row of a run into the table, in the place of an earlier one of the same run."""
    rows = {_run(each): each for each in read_rows(folder)}
    if rows.get(_run(row)) != row:
        _write(folder, (rows | {_run(row): row}).values())


def _run(row: Row) -> tuple[str, str]:
    return row["instance"], row["seed"]


def _write(folder: Path, rows: Iterable[Row]) -> None:
    with (
        published(folder / LEDGER) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as stream,
    ):
        writer = csv.DictWriter(stream, COLUMNS, dialect="excel-tab", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
