"""The plots of every table have all of their texts inside the picture."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from islands.instances.locate import Index
from islands.parallel import World
from islands.reproduce import PAPERS, output
from islands.reproduce.cells import TableRow
from islands.reproduce.experiment import Experiment
from islands.reproduce.table import PaperTable

TABLES = {
    f"{paper}/{name}": table
    for paper, home in PAPERS.items()
    for name, table in import_module(home).PAPER.tables.items()
}


def rows_of(table: PaperTable, plot: Any) -> list[TableRow]:
    """Return rows of two sizes with a value in each column that is drawn."""
    size = table.columns()[1].name
    names = {*plot.curves, *([plot.by] if plot.by else [])}
    return [{size: n, **{name: float(n) for name in names}} for n in (10, 200)]


@pytest.mark.parametrize("name", TABLES)
def test_texts_stay_in_the_picture(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kind, drawn = TABLES[name], list[Any]()
    make = output.new_figure

    def kept(*size: float) -> Any:
        drawn.append(make(*size))
        return drawn[-1]

    monkeypatch.setattr(output, "new_figure", kept)
    experiment = Experiment(kind.preset, 100, 100, "cuda", "NVIDIA H200", (1, 16), 2, World())
    table = kind(experiment, (), [found.name for found in kind.instances(Index())])
    for plot in table.plots():
        size = table.columns()[1].name
        output.write_plot(tmp_path / "a", "svg", kind.title, rows_of(table, plot), size, plot)
        figure = drawn.pop()
        figure.draw_without_rendering()
        whole, axes = figure.bbox, figure.axes[0]
        for each in (axes.yaxis.label, axes.xaxis.label, *figure.legends):
            box = each.get_window_extent()
            assert whole.x0 <= box.x0 < box.x1 <= whole.x1, (plot, each)
            assert whole.y0 <= box.y0 < box.y1 <= whole.y1, (plot, each)
