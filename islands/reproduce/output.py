"""The folder of an experiment: one CSV file per table, plots, and the settings."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from textwrap import fill
from typing import Any

from islands.errors import UsageError
from islands.paths import published, reading
from islands.record.kind import BENCH, EXPERIMENT, PROVENANCE, Kind, kind_of, results_in
from islands.record.ledger import LEDGER, RunLedger
from islands.report.figure import HEIGHT, WIDTH, logarithmic, new_figure, style
from islands.report.folders import PAGE, page_for
from islands.reproduce.cells import Column, Plot, TableRow, numbers
from islands.reproduce.table import PaperTable
from islands.untrusted import read_toml

_HIGH = 32
"""Characters that fit along the vertical axis."""
_SHORT = 22
"""Up to this number of characters, names of curves have two columns."""


class ExperimentFolder:
    """Writes an experiment's files; each file is complete, and a table is updated per row."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Begin an experiment or continue one; refuse one with other settings."""
        import tomli_w

        _refuse_other(path, settings)
        self.path, self.ledger = path, RunLedger(path)
        try:
            # Another process may have begun an experiment before this one locked the folder.
            _refuse_other(path, settings)
            if not (path / EXPERIMENT).exists():
                with published(path / EXPERIMENT) as temporary:
                    temporary.write_text(tomli_w.dumps(settings), encoding="utf-8")
            self._bytes_before = (path / LEDGER).stat().st_size
        except BaseException:
            self.close()  # an exception may keep this object, and thus the lock, for long
            raise

    def close(self) -> None:
        """Release the folder's lock."""
        self.ledger.close()

    def table(self, table: PaperTable, rows: Sequence[TableRow]) -> None:
        """Write the table's rows so far, and the rows of single instances."""
        self._write(table.name, table.columns(), rows)
        columns, parts = table.parts()
        if parts:
            self._write(f"{table.name}-parts", columns, parts)

    def _write(self, name: str, columns: Sequence[Column], rows: Sequence[TableRow]) -> None:
        with (
            published(self.path / f"{name}.csv") as temporary,
            temporary.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.DictWriter(stream, [column.name for column in columns])
            writer.writeheader()
            writer.writerows(rows)

    def text(self, table: PaperTable, text: str) -> None:
        """Write a completed table as it was printed."""
        with published(self.path / f"{table.name}.txt") as temporary:
            temporary.write_text(text, encoding="utf-8")

    def page(self) -> Path:
        """Write the page with all tables and plots."""
        path = self.path / PAGE
        page_for([self.path]).write(path)
        return path

    def tell(self, provenance: Callable[[], Mapping[str, Any]]) -> None:
        """Write what made the tables, unless all results are from earlier runs."""
        is_told = (self.path / PROVENANCE).exists()
        if is_told and (self.path / LEDGER).stat().st_size == self._bytes_before:
            return
        with published(self.path / PROVENANCE) as temporary:
            temporary.write_text(json.dumps(provenance()) + "\n", encoding="utf-8")

    def plot(self, table: PaperTable, rows: Sequence[TableRow]) -> None:
        """Write the plots of a table, if any."""
        size = table.columns()[1].name
        for plot in table.plots():
            for form in ("png", "svg"):
                name = f"{table.name}{plot.suffix}.{form}"
                with published(self.path / name) as temporary:
                    write_plot(temporary, form, table.title, rows, size, plot)


def refuse_other_work(path: Path) -> None:
    """Refuse a folder that contains a run, a series, a tuning or a measurement."""
    with reading(path):
        kind = kind_of(path)
        measured = kind is Kind.MEASUREMENT and (results_in(path) or (path / BENCH).exists())
    if kind in (Kind.RUN, Kind.SERIES, Kind.TUNING) or measured:
        assert kind is not None
        raise UsageError(f"--out {path}: contains {kind.value}, no experiment. Name a new folder")


def _refuse_other(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a path that is a file, or a folder with another experiment."""
    with reading(path):
        if path.exists() and not path.is_dir():
            raise UsageError(f"--out {path}: is a file. Name a new or existing folder")
        if not (path / EXPERIMENT).exists():
            return
        kept = read_toml(path / EXPERIMENT)
    settings = _without_machine(kept, settings)
    differing = [name for name in {**settings, **kept} if kept.get(name) != settings.get(name)]
    if differing:
        raise UsageError(
            f"--out {path}: contains an experiment with other settings: {', '.join(differing)}. To"
            f" continue it, repeat its command with the settings in {path / EXPERIMENT}; or name"
            " another folder"
        )


def _without_machine(kept: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Drop from `kept` what earlier versions wrote about the machine; return what to compare.

    They wrote the number of ranks, the threads of a CPU, and the number of all cores.
    """
    kept.pop("ranks", None)
    if str(kept.get("device")).startswith("CPU, "):
        kept["device"] = "CPU"
    is_older = kept.pop("cpu_threads", None) is not None
    return {name: each for name, each in settings.items() if name != "threads" or not is_older}


def write_plot(
    path: Path, form: str, title: str, rows: Sequence[TableRow], size: str, plot: Plot
) -> None:
    """Write a plot of columns against the column `size`, on a logarithmic axis."""
    curves = list(_curves(rows, size, plot))
    with style():
        columns = 1 if max((len(words) for words, _ in curves), default=0) > _SHORT else 2
        lines = -(-len(curves) // columns)
        figure = new_figure(WIDTH, HEIGHT + 0.4 + 0.16 * lines)
        axes = figure.add_subplot()
        for (words, points), marker in zip(curves, cycle("osD^v<>ph*XP"), strict=False):
            axes.plot(*zip(*points, strict=True), marker=marker, markersize=3.5, label=words)
        axes.set(xlabel=size, ylabel=fill(plot.quantity, _HIGH))
        figure.suptitle(title, fontsize=8.5, wrap=True)
        sizes = [x for _, points in curves for x, _ in points]
        if sizes:
            logarithmic(axes, min(sizes), max(sizes))
            figure.legend(loc="outside lower left", ncols=columns)
        axes.set_yscale("log" if plot.logarithmic else "linear")
        figure.savefig(path, format=form, dpi=200, facecolor="white")


def _curves(
    rows: Sequence[TableRow], size: str, plot: Plot
) -> Iterator[tuple[str, list[tuple[float, ...]]]]:
    """Yield the label and the points of each curve that is not empty."""
    for group in dict.fromkeys(row.get(plot.by) for row in rows):
        mine = [row for row in rows if row.get(plot.by) == group]
        for column, words in plot.curves.items():
            points = sorted(numbers(mine, size, column))
            if points:
                yield (f"{group}: {words}" if plot.by else words), points
