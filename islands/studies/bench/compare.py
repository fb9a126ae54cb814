"""Comparisons of measurements: of the tables that `islands bench --json` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from islands.errors import InputError
from islands.paths import reading
from islands.studies.bench.base import TABLES, table
from islands.studies.bench.measurement import PRINTED, PROVENANCE, Tables
from islands.studies.bench.quality_runs import RUNS, read_rows
from islands.studies.bench.quality_tests import changes
from islands.studies.described import described
from islands.tables import Row
from islands.untrusted import parsing

SPEEDS: Mapping[str, str] = described(TABLES)["ratios"]["speeds"]
"""The compared column of each table."""
_TIMES = ("end",)
"""Columns in which less is faster."""
_MEASURED = ("generations", "cost", "best", "hits", "ends", "known", "migrant_bytes", "digests")
"""Columns that do not tell what was measured."""
_COMMIT = 12
"""Digits of a commit that are shown."""

RATIOS = table("ratios")


def compared(before: Tables, now: Tables) -> dict[str, list[Row]]:
    """Return the tables that compare two measurements: of speeds, and of the runs of `quality`."""
    runs = (read_rows(each.get(RUNS.name, [])) for each in (before, now))
    return {"ratios": [*ratios(before, now)], "changes": [*changes(*runs)]}


def read_tables(path: Path) -> tuple[Tables, str]:
    """Return the tables that `islands bench --json` printed to a file, and which commit made it."""
    with reading(path):
        text = path.read_text(encoding="utf-8")
    with parsing(path, "is not the output of islands bench --json"):
        whole = json.loads(text)
        tables: dict[str, Any] = whole if isinstance(whole, dict) else {"": None}
        made, _ = tables.pop(PROVENANCE, {}), tables.pop(PRINTED, None)
        if not (isinstance(made, dict) and all(map(_is_table, tables.values()))):
            raise InputError(f"{path}: is not the output of islands bench --json. Name such a file")
        read_rows(tables.get(RUNS.name, []))  # refuses rows of another kind
        return tables, _words(made)


def _is_table(rows: object) -> bool:
    return isinstance(rows, list) and all(isinstance(row, dict) for row in rows)


def _words(made: Mapping[str, Any]) -> str:
    """Return when and from which commit a file was made, as far as it says so."""
    commit = str(made.get("commit") or "")[:_COMMIT]
    changed = ", with changes" if made.get("changed") else ""
    words = [str(made.get("date", "")), f"commit {commit}{changed}" if commit else ""]
    return ", ".join(filter(None, words))


def ratios(before: Tables, now: Tables) -> Iterator[Row]:
    """Yield the ratio of each row that both measurements have."""
    for name, column in SPEEDS.items():
        earlier = {frozenset(_key(row)): row for row in before.get(name, [])}
        for row in now.get(name, []):
            other = earlier.get(frozenset(_key(row)))
            if other is None or not (row.get(column) and other.get(column)):
                continue
            new, old = float(row[column]), float(other[column])
            ratio = old / new if column in _TIMES else new / old
            spread = max(float(each.get("spread") or 0) for each in (row, other))
            is_same = abs(ratio - 1) <= spread
            yield RATIOS.row(
                table=name,
                row=" ".join(str(value) for _, value in _key(row)),
                column=column,
                before=old,
                now=new,
                ratio=ratio,
                spread=spread,
                verdict="within the spread" if is_same else "faster" if ratio > 1 else "slower",
            )


def _key(row: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the columns that tell what was measured."""
    return tuple(
        (name, value)
        for name, value in row.items()
        if isinstance(value, str | int) and not isinstance(value, bool) and name not in _MEASURED
    )
