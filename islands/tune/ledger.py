"""`tune.tsv`: one row per configuration and instance, with the costs of its runs and all settings.

The settings identify a row, so no configuration runs twice, even if other configurations or
instances are tuned in the same folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from islands.configuration.spec import RunSpec
from islands.display.heartbeat import is_of_work
from islands.errors import UsageError
from islands.paths import reading
from islands.record.files import Row, read_table, write_table
from islands.record.folder import TUNING_LOCK, TUNING_TABLE
from islands.tune.runs import TaskResult, is_timed

LEDGER, LOCK = TUNING_TABLE, TUNING_LOCK
"""The table, and the lock file: the other files are replaced when they are written."""
_NONE = "-"
COLUMNS = (
    *("instance", "configuration", "values", "runs", "costs", "evaluations", "reached"),
    *("generations", "seconds", "elapsed", "backend", "device", "settings"),
)
"""`seconds` are those of a run's search; `elapsed` those of all runs with compilation."""
_ADDED = {"elapsed": "0"}
"""Columns that tables of earlier versions lack."""
_LISTS = ("costs", "evaluations", "reached")
"""Columns with one number per run, in the order of the seeds."""
_OWN = ("backend", "threads")


def key_of(spec: RunSpec, runs: int, *, batched: bool) -> tuple[str, str]:
    """Return the key of the row of a configuration on an instance.

    Whether runs are `batched` matters only if they have a time limit, which a batch shares.
    """
    settings = {name: value for name, value in spec.to_mapping().items() if name not in _OWN}
    if batched and is_timed(spec):
        settings["shares_seconds"] = True
    return str(runs), json.dumps(settings, sort_keys=True)


class TuneLedger:
    """The table in a folder; it is written again after each row."""

    def __init__(self, folder: Path, *, force: bool = False) -> None:
        """Read the existing rows; with `force`, start empty."""
        refuse_unfit(folder)
        self.folder, self._path = folder, folder / LEDGER
        rows = [] if force else read_table(self._path, COLUMNS, "a tuning", added=_ADDED)
        self._rows = {(row["runs"], row["settings"]): row for row in rows}
        self.elapsed = sum(float(row["elapsed"]) for row in rows)
        """The seconds of the rows of earlier commands."""
        self.has_new = False

    def result(self, key: tuple[str, str]) -> TaskResult | None:
        """Return the result for `key`, or None if it is not done."""
        row = self._rows.get(key)
        return None if row is None else _result(row)

    def add(self, key: tuple[str, str], result: TaskResult, facts: Mapping[str, object]) -> None:
        """Write a row; `facts` are its other columns."""
        costs = (_NONE if cost is None else str(cost) for cost in result.costs)
        cells = {
            **facts,
            "runs": key[0],
            "costs": " ".join(costs),
            "evaluations": " ".join(map(str, result.evaluations)),
            "reached": " ".join(str(int(each)) for each in result.reached),
            "generations": result.generations,
            "seconds": result.seconds,
            "settings": key[1],
        }
        self._rows[key] = {name: str(cells[name]) for name in COLUMNS}
        self.has_new = True
        write_table(self._path, COLUMNS, self._rows.values())


def _result(row: Row) -> TaskResult:
    costs, evaluations, reached = (row[name].split() for name in _LISTS)
    return TaskResult(
        costs=tuple(None if cost == _NONE else number(cost) for cost in costs),
        evaluations=tuple(map(int, evaluations)),
        reached=tuple(bool(int(each)) for each in reached),
        generations=float(row["generations"]),
        seconds=float(row["seconds"]),
    )


def number(text: str) -> float:
    """Return a cost from its text: an integer, or a number with decimals."""
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def refuse_unfit(folder: Path) -> None:
    """Refuse a folder that contains files but no tuning."""
    with reading(folder):
        if not folder.exists():
            return
        if not folder.is_dir():
            raise UsageError(f"--out {folder}: is a file. Name a new or existing folder")
        names = {path.name for path in folder.iterdir()}
    others = (name for name in names if not (name.startswith(f".{LEDGER}.") or is_of_work(name)))
    if LEDGER not in names and any(others):
        raise UsageError(
            f"--out {folder}: contains files, but no tuning. Name a new or empty folder, so that"
            " your files are not overwritten"
        )
