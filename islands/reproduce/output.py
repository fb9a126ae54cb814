"""The folder of an experiment: a CSV file a table, plots, and the settings."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from islands.errors import UsageError
from islands.paths import published, reading
from islands.reproduce.cells import Column, Row
from islands.reproduce.ledger import Ledger
from islands.reproduce.plots import write_plot
from islands.reproduce.table import Table
from islands.untrusted import read_toml

_SETTINGS = "settings.toml"


class Folder:
    """Writes an experiment's files; each appears whole, a table again after each row."""

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        """Begin an experiment, or go on with one of these settings; refuse one of others."""
        import tomli_w

        _refuse_other(path, settings)
        self.path, self.ledger = path, Ledger(path)
        # Before the folder was this process's alone, another one may have begun there.
        _refuse_other(path, settings)
        if not (path / _SETTINGS).exists():
            with published(path / _SETTINGS) as temporary:
                temporary.write_text(tomli_w.dumps(settings), encoding="utf-8")

    def close(self) -> None:
        """Let another process go on."""
        self.ledger.close()

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


def _refuse_other(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse what is not a folder, and one that holds another experiment."""
    with reading(path):
        if path.exists() and not path.is_dir():
            raise UsageError(f"--out {path}: is a file. Name a folder, which may be new")
        if not (path / _SETTINGS).exists():
            return
        kept = read_toml(path / _SETTINGS)
    differing = [name for name in {**settings, **kept} if kept.get(name) != settings.get(name)]
    if differing:
        raise UsageError(
            f"--out {path}: holds an experiment with other settings: {', '.join(differing)}. To go"
            f" on, repeat its command, whose settings are in {path / _SETTINGS}; or name another"
            " folder"
        )
