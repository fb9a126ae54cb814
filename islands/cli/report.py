"""The commands that write pages, pictures and tables from the folders of runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from islands.cli import arguments
from islands.errors import InputError, UsageError
from islands.paths import published
from islands.record.folder import FINISHED, MIGRATIONS, RUN_SETTINGS, TRACE, require_run
from islands.record.one_run import warnings
from islands.tables import FORMULA
from islands.text import escaped, show, unknown
from islands.untrusted import read_toml

if TYPE_CHECKING:
    import pyarrow as pa

_TOURS = ("solution", "tour")
"""The names of the picture of a solution, which may also be written as GeoJSON."""
RECORDS = {TRACE: "island", MIGRATIONS: "to"}
"""The names of records, and the column with the island of a row."""
_REPORT_EPILOG = """
The page is one HTML file that works offline. By default, it is report.html in the folder, or, for
several folders, in the current folder.

examples:
  islands report runs/zi929-20260101-120000
  islands report ten                                a series of runs
  islands report brkga ga de --out methods.html     methods, compared with tests
"""
_PLOT_EPILOG = """
WHAT: solution (a tour, an assignment, ...), convergence (the costs over seconds), generations or
evaluations (the costs over these), migration or islands (which islands sent migrants to which),
lineage (of the best solution).

examples:
  islands plot runs/zi929-20260101-120000
  islands plot runs/zi929-20260101-120000 convergence --out course.svg
  islands plot route --out route.geojson            the tour, for maps
"""
_EXPORT_EPILOG = """
The table has the rows of all ranks, ordered by generation and island, with the rank as the first
column. The trace has costs (best, mean, worst), the generation of the best, the evaluations so far,
the distance between genomes from 0 (equal) to 1, and the share of distinct costs. For an unfinished
run, the table has the rows written so far.

examples:
  islands export runs/zi929-20260101-120000 --csv trace.csv
  islands export runs/zi929-20260101-120000 migrations --parquet migrants.parquet
"""


def add_report(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands report`."""
    parser.epilog = _REPORT_EPILOG
    text = "folders of runs, series, a tuning, or an experiment of islands reproduce"
    add = parser.add_argument
    add("folders", metavar="DIR", nargs="+", type=arguments.folder, help=text)
    add("--out", metavar="FILE", type=Path, help="the page, .html or .htm (default: see below)")
    _add_problem(parser)


def _add_problem(parser: argparse.ArgumentParser) -> None:
    """Declare the options for the problem of a run, whose solution is drawn."""
    text = "the instance, or FILE.py:NAME, if its file or script has moved"
    parser.add_argument("--instance", metavar="FILE", type=arguments.NAME, help=text)
    text = "run the script that defines the problem, even if others may have written it"
    parser.add_argument("--trust", action="store_true", help=text)


def report(args: argparse.Namespace) -> int:
    """Write a page with pictures of one run, or a page that compares several."""
    from islands.report.page import require_html, require_packages
    from islands.studies.pages.folders import default_path, page_for

    if args.out is not None:
        require_html("--out", args.out)
    require_packages()
    page = page_for(args.folders, moved=args.instance, say=show)
    path = args.out or default_path(args.folders)
    page.write(path)
    show(_wrote(path))
    return 0


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands plot`."""
    parser.epilog = _PLOT_EPILOG
    add = parser.add_argument
    add("folder", metavar="DIR", type=arguments.folder, help="the folder of a run")
    add("what", metavar="WHAT", nargs="?", default="solution", help="see below (default: solution)")
    text = "a file that ends in .png or .svg (default: WHAT.png in the folder); a tour also in"
    text += " .geojson, for maps, if cities have longitude and latitude"
    add("--out", metavar="FILE", type=Path, help=text)
    _add_problem(parser)


def plot(args: argparse.Namespace) -> int:
    """Write one picture of a run as PNG or SVG, or its tour as GeoJSON."""
    path: Path | None = args.out
    if path is not None and path.suffix.lower() == ".geojson" and args.what in _TOURS:
        from islands.report.maps import write_map_of

        notes = write_map_of(args.folder, path, moved=args.instance)
    else:
        from islands.report.pictures import write_picture

        path, notes = write_picture(args.folder, args.what, path, moved=args.instance)
    for note in notes:
        show(f"islands: {note}", file=sys.stderr)
    show(_wrote(path))
    return 0


def add_export(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands export`."""
    parser.epilog = _EXPORT_EPILOG
    add = parser.add_argument
    add("folder", metavar="DIR", type=arguments.folder, help="the folder of a run")
    text = f"{' or '.join(RECORDS)} (default: {TRACE})"
    add("what", metavar="WHAT", nargs="?", default=TRACE, help=text)
    add("--csv", metavar="FILE", type=Path, help="write comma-separated values")
    add("--parquet", metavar="FILE", type=Path, help="write a Parquet file")


def export(args: argparse.Namespace) -> int:
    """Write the records of a run as one table, for other programs."""
    if args.what not in RECORDS:
        raise UsageError(unknown("record", args.what, RECORDS))
    files = [path.resolve() for path in (args.csv, args.parquet) if path is not None]
    if not files:
        raise UsageError("islands export: no file is named. Add --csv FILE or --parquet FILE")
    if len(files) > len({*files}):
        raise UsageError(f"--csv and --parquet both name {args.csv}. Specify two different files")
    rows = _table(args.folder, args.what)
    for warning in warnings(args.folder):
        show(f"islands: {warning}", file=sys.stderr)
    from pyarrow import csv, parquet

    for path, write, table in (
        (args.csv, csv.write_csv, _without_formulas(rows)),
        (args.parquet, parquet.write_table, rows),
    ):
        if path is not None:
            with published(path) as temporary, temporary.open("wb") as stream:
                write(table, stream)
            show(f"{_wrote(path)}: {len(rows)} rows, {', '.join(rows.column_names)}")
    return 0


def _wrote(path: Path) -> str:
    return escaped(f"Wrote {path}", kept="")


def _without_formulas(rows: pa.Table) -> pa.Table:
    """Prevent spreadsheets from reading texts as formulas; see `islands.tables.cells`."""
    import pyarrow as pa
    from pyarrow import compute

    for place, field in enumerate(rows.schema):
        if field.type == pa.string():
            texts = compute.replace_substring_regex(rows.column(place), FORMULA, r"'\0")
            rows = rows.set_column(place, field, texts)
    return rows


def _table(folder: Path, name: str) -> pa.Table:
    from islands.record.tables import read_records

    require_run(folder)
    rows = read_records(folder, name)
    if rows is None:
        if not (folder / FINISHED).exists() and (name == TRACE or _migrates(folder)):
            raise InputError(f"{folder}: the run has no rows of its {name} yet. Export it later")
        raise InputError(f"{folder}: the run recorded no {name}. Specify another run or record")
    return rows.sort_by([("generation", "ascending"), (RECORDS[name], "ascending")])


def _migrates(folder: Path) -> bool:
    """Return whether the islands of a run exchange migrants, and migrants are recorded."""
    settings = read_toml(folder / RUN_SETTINGS)
    topology = settings.get("migration", {}).get("topology")
    return topology != "none" and bool(settings.get("record", {}).get("migrations", True))
