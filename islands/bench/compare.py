"""Compare measurements with those of an earlier `islands bench --json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from islands.bench.folder import PROVENANCE
from islands.bench.quality_compare import Change, changes
from islands.bench.quality_runs import RunRow, read_rows
from islands.errors import InputError
from islands.paths import reading
from islands.untrusted import parsing

SPEEDS = {
    "brkga": "keys_per_second",
    "de": "evaluations_per_second",
    "cellular": "evaluations_per_second",
    "ga": "children_per_second",
    "pso": "evaluations_per_second",
    "eax": "children_per_second",
    "tabu": "evaluations_per_second",
    "scaling": "rate",
    "epoch_ends": "end",
    "gpus_speed": "evaluations_per_second",
}
"""The compared column of each table."""
_TIMES = ("end",)
"""Columns in which less is faster."""
_MEASURED = ("generations", "cost", "best", "hits", "ends", "known", "migrant_bytes", "digests")
"""Columns that do not tell what was measured."""
_SHOWN = 44
_COMMIT = 12
"""Digits of a commit that are shown."""
PRINTED = "printed"
"""The key of the texts of the tables; all other keys, but for the provenance, are tables."""

Tables = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Ratio:
    """The speed of a row relative to the same row of an earlier measurement."""

    HEADER: ClassVar[str] = (
        "A ratio above 1 is faster.\n"
        f"{'Table':<10} {'Row':<{_SHOWN}} {'Before':>10} {'Now':>10} {'Ratio':>7} {'Spread':>7}"
    )

    table: str
    row: str
    column: str
    before: float
    now: float
    ratio: float
    """More than 1 is faster."""
    spread: float
    """The larger spread of both measurements; a smaller change means nothing."""

    def line(self) -> str:
        """Return the ratio as text under `HEADER`."""
        change = abs(self.ratio - 1)
        verdict = "within the spread" if change <= self.spread else ""
        verdict = verdict or ("faster" if self.ratio > 1 else "slower")
        return (
            f"{self.table:<10} {self.row[:_SHOWN]:<{_SHOWN}} {self.before:>10.3g} {self.now:>10.3g}"
            f" {self.ratio:>7.3f} {100 * self.spread:>6.1f}%  {verdict}"
        )


@dataclass(frozen=True)
class Compared:
    """All that two measurements have in common."""

    ratios: Sequence[Ratio]
    changes: Sequence[Change]
    """Of the runs of `quality`."""


def compared(before: Tables, now: Tables) -> Compared:
    """Return the comparison of two measurements."""
    runs = (read_rows(each.get(RunRow.TABLE, [])) for each in (before, now))
    return Compared(list(ratios(before, now)), list(changes(*runs)))


def read_tables(path: Path) -> tuple[Tables, str]:
    """Return the tables that `islands bench --json` printed to a file, and which commit made it."""
    with reading(path):
        text = path.read_text(encoding="utf-8")
    with parsing(path, "is not the output of islands bench --json"):
        tables = json.loads(text)
        made = tables.pop(PROVENANCE, {}) if isinstance(tables, dict) else {}
        if isinstance(tables, dict):
            tables.pop(PRINTED, None)
        if (
            not isinstance(tables, dict)
            or not isinstance(made, dict)
            or not all(
                isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
                for rows in tables.values()
            )
        ):
            raise InputError(f"{path}: is not the output of islands bench --json. Name such a file")
        read_rows(tables.get(RunRow.TABLE, []))  # refuses rows of another kind
        return tables, _words(made)


def _words(made: Mapping[str, Any]) -> str:
    """Return when and from which commit a file was made, as far as it says so."""
    commit = str(made.get("commit") or "")[:_COMMIT]
    changed = ", with changes" if made.get("changed") else ""
    words = [str(made.get("date", "")), f"commit {commit}{changed}" if commit else ""]
    return ", ".join(filter(None, words))


def ratios(before: Tables, now: Tables) -> Iterator[Ratio]:
    """Yield the ratio of each row that both measurements have."""
    for table, column in SPEEDS.items():
        earlier = {_key(row): row for row in before.get(table, [])}
        for row in now.get(table, []):
            other = earlier.get(_key(row))
            if other is None or not (row.get(column) and other.get(column)):
                continue
            new, old = float(row[column]), float(other[column])
            ratio = old / new if column in _TIMES else new / old
            spread = max(float(each.get("spread") or 0) for each in (row, other))
            words = " ".join(str(value) for _, value in _key(row))
            yield Ratio(table, words, column, old, new, ratio, spread)


def _key(row: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return the columns that tell what was measured."""
    return tuple(
        (name, value)
        for name, value in row.items()
        if isinstance(value, str | int) and not isinstance(value, bool) and name not in _MEASURED
    )
