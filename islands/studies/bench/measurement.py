"""Write the folder of a measurement, with its tables and plots, and compare two measurements."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from islands.doctor.nvidia import driver
from islands.errors import InputError, UsageError
from islands.inside import inside
from islands.paths import published, reading
from islands.record.folder import BENCH, FolderKind, reject_other_work
from islands.record.provenance import provenance
from islands.studies.bench import gpus_rows
from islands.studies.bench.base import TABLES, BenchRequest, table
from islands.studies.bench.plots import write_plots, write_speed_ups
from islands.studies.bench.quality_rows import changes
from islands.studies.bench.quality_runs import RUNS, RunRow
from islands.studies.described import described
from islands.tables import Row
from islands.untrusted import bounded_text, parsing

Tables = Mapping[str, Sequence[Mapping[str, Any]]]

PROVENANCE = "provenance"
"""The key of the provenance in the JSON of a measurement."""
MEASUREMENT = "measurement"
"""The key in the provenance of the options that define the measurement."""
PRINTED = "printed"
"""The key of the tables as they are printed; all keys except these two are tables."""
_MOST_BYTES = 1 << 24
"""Maximum size of the file of a measurement."""
_DEFINING = ("of", "variant", "mixes", "colony", "instances")
"""Options that define a measurement: a command with the same values continues or repeats it."""


def measurement(benchmarks: Sequence[str], request: BenchRequest) -> dict[str, list[str]]:
    """Return the options that define a measurement, as JSON types."""
    options = {name: list(getattr(request, name)) for name in _DEFINING}
    return {"benchmarks": sorted(benchmarks), **options}


def reject_other_measurement(folder: Path, defined: dict[str, list[str]]) -> None:
    """Reject `folder` if it is a file or contains another measurement or other work."""
    reject_other_work(folder, FolderKind.MEASUREMENT)
    if not (folder / BENCH).exists():
        return
    earlier = _provenance_in(folder / BENCH)
    if earlier.get(MEASUREMENT) != defined:
        command = shlex.join(["islands", *map(str, earlier.get("command", ()))])
        raise UsageError(
            f"--out {folder}: contains another measurement: {command}. Specify a new folder"
        )


def _provenance_in(path: Path) -> dict[str, Any]:
    """Return the provenance of the measurement in a file."""
    text = bounded_text(path, _MOST_BYTES)
    with parsing(path, "is not the output of islands bench", "Specify a new folder"):
        return dict(json.loads(text)[PROVENANCE])


def text_of(rows: Sequence[Row]) -> str:
    """Return the header and the rows of a table."""
    return "\n".join([rows[0].table.header, *(row.line() for row in rows)])


def origin(
    tables: Mapping[str, Sequence[Row]], options: Mapping[str, Any], command: Sequence[str]
) -> dict[str, Any]:
    """Return the provenance of a measurement with these `options`, and its tables as printed."""
    rows = [row for table_rows in tables.values() for row in table_rows if "device" in row]
    devices = dict.fromkeys(str(row["device"]) for row in rows)
    facts = {**provenance(), "devices": [*devices], "driver": driver(), "command": [*command]}
    printed = {name: text_of(rows) for name, rows in tables.items() if rows[0].table.header}
    return {PROVENANCE: {**facts, MEASUREMENT: options}, PRINTED: printed}


def write(folder: Path, tables: Mapping[str, Sequence[Row]], measured: Mapping[str, Any]) -> None:
    """Write each table to a file, and plots of some of them; no file is ever seen incomplete."""
    for name, rows in tables.items():
        rows[0].table.write(folder, rows)
        if name == RUNS.name:
            write_plots(folder, [RunRow(**row) for row in rows])
    if gains := [
        row for kind in (gpus_rows.TARGETS, gpus_rows.SPEEDS) for row in tables.get(kind.name, ())
    ]:
        write_speed_ups(folder, gains)
    with published(inside(folder, BENCH)) as temporary:
        temporary.write_text(json.dumps(measured) + "\n", encoding="utf-8")


SPEEDS: Mapping[str, str] = described(TABLES)["ratios"]["speeds"]
"""The column of each table that is compared."""
_MEASURED = ("generations", "cost", "best", "hits", "ends", "known", "migrant_bytes", "digests")
"""Columns with results, which do not identify a row."""
_COMMIT = 12
"""Digits of a commit that are shown."""

RATIOS = table("ratios")


def compared(before: Tables, now: Tables) -> dict[str, list[Row]]:
    """Return the tables that compare two measurements: of speeds, and of the runs of `quality`."""
    runs = ([RunRow(**row) for row in tables.get(RUNS.name, [])] for tables in (before, now))
    return {"ratios": [*ratios(before, now)], "changes": [*changes(*runs)]}


def read_tables(path: Path) -> tuple[Tables, str]:
    """Return the tables in an output of `islands bench --json`, and its date and commit as text."""
    with reading(path):
        text = path.read_text(encoding="utf-8")
    with parsing(path, fault := "is not the output of islands bench --json", "Specify such a file"):
        whole = json.loads(text)
        tables: dict[str, Any] = whole if isinstance(whole, dict) else {"": None}
        origin, _ = tables.pop(PROVENANCE, {}), tables.pop(PRINTED, None)
        are_tables = all(
            isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
            for rows in tables.values()
        )
        if not (isinstance(origin, dict) and are_tables):
            raise InputError(f"{path}: {fault}. Specify such a file")
    columns = {column.name for column in RUNS.columns}
    if any(row.keys() != columns for row in tables.get(RUNS.name, ())):
        raise InputError(f"{path}: {RUNS.name} has columns of another version. Measure again")
    return tables, _words(origin)


def _words(origin: Mapping[str, Any]) -> str:
    """Return the date and the commit as text, as far as they are known."""
    commit = str(origin.get("commit") or "")[:_COMMIT]
    changed = ", with changes" if origin.get("changed") else ""
    words = [str(origin.get("date", "")), f"commit {commit}{changed}" if commit else ""]
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
            ratio = new / old
            spread = max(float(either.get("spread") or 0) for either in (row, other))
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
    """Return the columns that identify a row."""
    return tuple(
        (name, value)
        for name, value in row.items()
        if isinstance(value, str | int) and not isinstance(value, bool) and name not in _MEASURED
    )
