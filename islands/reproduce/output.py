"""The folder of an experiment: a CSV file a table, plots, and the settings."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from islands.errors import UsageError
from islands.paths import published
from islands.reproduce.cells import Column, Row
from islands.reproduce.plots import write_plot
from islands.reproduce.table import Table

_SETTINGS = "settings.toml"


def refuse_used(path: Path) -> None:
    """Refuse a folder that holds an experiment, and what is not a folder."""
    if path.exists() and not path.is_dir():
        raise UsageError(f"--out {path}: is a file. Name a folder, which may be new")
    if (path / _SETTINGS).exists():
        raise UsageError(f"--out {path}: holds an experiment. Name another folder, or remove it")


class Folder:
    """Writes an experiment's files; each appears whole, a table again after each row."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        import tomli_w

        self.path = path
        with published(path / _SETTINGS) as temporary:
            temporary.write_text(tomli_w.dumps(settings), encoding="utf-8")

    def table(self, table: Table, rows: Sequence[Row]) -> None:
        """Write the rows of a table so far, and what they are made of."""
        self._write(table.name, table.columns(), rows)
        columns, parts = table.parts()
        if parts:
            self._write(f"{table.name}-parts", columns, parts)

    def _write(self, name: str, columns: Sequence[Column], rows: Sequence[Row]) -> None:
        with (
            published(self.path / f"{name}.csv") as temporary,
            temporary.open("w", newline="", encoding="utf-8") as stream,
        ):
            writer = csv.DictWriter(stream, [column.name for column in columns])
            writer.writeheader()
            writer.writerows(rows)

    def plot(self, table: Table, rows: Sequence[Row]) -> None:
        """Write the plots of a table, if it has some."""
        size = table.columns()[1].name
        for plot in table.plots():
            for form in ("png", "svg"):
                name = f"{table.name}{plot.suffix}.{form}"
                with published(self.path / name) as temporary:
                    write_plot(temporary, form, table.title, rows, size, plot)
