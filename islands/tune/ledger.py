"""`tune.tsv`: a row a configuration and instance, with the costs of its runs and all settings.

A row is known by its settings, so that the same configuration is never run again, whatever other
configurations or instances are tried in the same folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from islands.errors import UsageError
from islands.paths import reading
from islands.record.table_file import Row, read_table, write_table
from islands.spec.spec import RunSpec
from islands.tune.cell import Cell, is_timed

LEDGER = "tune.tsv"
LOCK = f".{LEDGER}.lock"
"""The file by which a tuning's folder is held, as the others are replaced when they are written."""
_NONE = "-"
COLUMNS = (
    *("instance", "configuration", "values", "runs", "costs", "evaluations", "reached"),
    *("generations", "seconds", "backend", "device", "settings"),
)
_LISTS = ("costs", "evaluations", "reached")
"""Columns with a number a run, in the order of the seeds."""
_OWN = ("backend", "threads")


def key_of(spec: RunSpec, runs: int, *, beside: bool) -> tuple[str, str]:
    """Return what the row of a configuration on an instance is known by.

    Whether its runs go `beside` each other matters where the seconds that they then share end them.
    """
    settings = {name: value for name, value in spec.to_mapping().items() if name not in _OWN}
    if beside and is_timed(spec):
        settings["shares_seconds"] = True
    return str(runs), json.dumps(settings, sort_keys=True)


class Ledger:
    """The table in a folder, which is written again with each row."""

    def __init__(self, folder: Path, *, force: bool = False) -> None:
        """Read the rows that are there; with `force`, begin anew."""
        refuse_unfit(folder)
        self.folder, self._path = folder, folder / LEDGER
        rows = [] if force else read_table(self._path, COLUMNS, "a tuning")
        self._rows = {(row["runs"], row["settings"]): row for row in rows}

    def cell(self, key: tuple[str, str]) -> Cell | None:
        """Return what the runs known by `key` came to, if they are done."""
        row = self._rows.get(key)
        return None if row is None else _cell(row)

    def enter(self, key: tuple[str, str], cell: Cell, said: Mapping[str, object]) -> None:
        """Write a row; `said` are its instance, configuration, values, backend and device."""
        costs = (_NONE if cost is None else str(cost) for cost in cell.costs)
        cells = {
            **said,
            "runs": key[0],
            "costs": " ".join(costs),
            "evaluations": " ".join(map(str, cell.evaluations)),
            "reached": " ".join(str(int(each)) for each in cell.reached),
            "generations": cell.generations,
            "seconds": cell.seconds,
            "settings": key[1],
        }
        self._rows[key] = {name: str(cells[name]) for name in COLUMNS}
        write_table(self._path, COLUMNS, self._rows.values())


def _cell(row: Row) -> Cell:
    costs, evaluations, reached = (row[name].split() for name in _LISTS)
    return Cell(
        costs=tuple(None if cost == _NONE else number(cost) for cost in costs),
        evaluations=tuple(map(int, evaluations)),
        reached=tuple(bool(int(each)) for each in reached),
        generations=float(row["generations"]),
        seconds=float(row["seconds"]),
    )


def number(text: str) -> float:
    """Return a cost that was written down: a whole number, or one with decimals."""
    exact = Decimal(text)
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def refuse_unfit(folder: Path) -> None:
    """Refuse a folder with files of others."""
    with reading(folder):
        if not folder.exists():
            return
        if not folder.is_dir():
            raise UsageError(f"--out {folder}: is a file. Name a folder, which may be new")
        names = {path.name for path in folder.iterdir()}
    if LEDGER not in names and any(not name.startswith(f".{LEDGER}.") for name in names):
        raise UsageError(
            f"--out {folder}: holds files, but no tuning. Name a folder that is new or empty, so"
            " that nothing of yours is overwritten"
        )
