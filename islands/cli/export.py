"""Write the records of a run as one table, for other programs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from islands.cli import arguments
from islands.errors import InputError, UsageError
from islands.paths import published
from islands.record.folder import MIGRATIONS, SETTINGS, TRACE, require_run
from islands.record.one_run import warnings
from islands.text import show, unknown
from islands.untrusted import read_toml

if TYPE_CHECKING:
    import pyarrow as pa

RECORDS = {TRACE: "island", MIGRATIONS: "to"}
"""The records, and the column with the island of a row."""
_EXAMPLES = """
The table has the rows of all ranks, ordered by generation and island, and their rank as the first
column; docs/results.md describes the others. The rows of a run that is not finished are those so
far.

examples:
  islands export runs/zi929-20260101-120000 --csv trace.csv
  islands export runs/zi929-20260101-120000 migrations --parquet migrants.parquet
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands export`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    add = parser.add_argument
    add("folder", metavar="DIR", type=arguments.folder, help="the folder of a run")
    words = f"{' or '.join(RECORDS)} (default: {TRACE})"
    add("what", metavar="WHAT", nargs="?", default=TRACE, help=words)
    add("--csv", metavar="FILE", type=Path, help="write comma-separated values")
    add("--parquet", metavar="FILE", type=Path, help="write a Parquet file")


def main(args: argparse.Namespace) -> int:
    """Write the table, and print its size."""
    if args.what not in RECORDS:
        raise UsageError(unknown("record", args.what, RECORDS))
    if args.csv is None and args.parquet is None:
        raise UsageError("islands export: no file is named. Add --csv FILE or --parquet FILE")
    rows = _table(args.folder, args.what)
    for warning in warnings(args.folder):
        show(f"islands: {warning}", file=sys.stderr)
    for path, write in ((args.csv, _write_csv), (args.parquet, _write_parquet)):
        if path is not None:
            write(rows, path)
            show(f"Wrote {path}: {len(rows)} rows, {', '.join(rows.column_names)}")
    return 0


def _table(folder: Path, name: str) -> pa.Table:
    from islands.record.folder import FINISHED
    from islands.record.tables import read_records

    require_run(folder)
    rows = read_records(folder, name)
    if rows is None:
        if not (folder / FINISHED).exists() and (name == TRACE or _migrates(folder)):
            raise InputError(f"{folder}: the run has no rows of its {name} yet. Export it later")
        raise InputError(f"{folder}: the run recorded no {name}. Name another run or record")
    return rows.sort_by([("generation", "ascending"), (RECORDS[name], "ascending")])


def _migrates(folder: Path) -> bool:
    """Return whether a run records migrations, and may have some."""
    settings = read_toml(folder / SETTINGS)
    topology = settings.get("migration", {}).get("topology")
    return topology != "none" and bool(settings.get("record", {}).get("migrations", True))


def _write_csv(rows: pa.Table, path: Path) -> None:
    from pyarrow import csv

    with published(path) as temporary, temporary.open("wb") as stream:
        csv.write_csv(rows, stream)


def _write_parquet(rows: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    with published(path) as temporary, temporary.open("wb") as stream:
        pq.write_table(rows, stream)
