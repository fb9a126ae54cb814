"""The plots of every table have all of their texts inside the picture."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from islands.campaign.engine import Campaign
from islands.instances.locate import Index
from islands.report.figure import stored_picture
from islands.reproduce import PAPERS, perform
from islands.reproduce.cells import Plot, TableRow
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
    names = {*plot.curves, *filter(None, [plot.by, plot.classes])}
    return [{size: n, **{name: float(n) for name in names}} for n in (10, 200)]


def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list of figures to come."""
    found, make = list[Any](), perform.new_figure

    def kept(*size: float) -> Any:
        found.append(make(*size))
        return found[-1]

    monkeypatch.setattr(perform, "new_figure", kept)
    return found


@pytest.mark.parametrize("name", TABLES)
def test_texts_stay_in_the_picture(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kind, found = TABLES[name], drawn(monkeypatch)
    experiment = Experiment(kind.preset, 100, 100, "cuda", "NVIDIA H200", (1, 16), 2, Campaign())
    table = kind(experiment, (), [found.name for found in kind.instances(Index())])
    for plot in table.plots():
        size = table.columns()[1].name
        perform.write_plot(tmp_path / "a", "svg", kind.title, rows_of(table, plot), size, plot)
        figure = found.pop()
        figure.draw_without_rendering()
        whole, axes = figure.bbox, figure.axes[0]
        for each in (axes.yaxis.label, axes.xaxis.label, *figure.legends):
            box = each.get_window_extent()
            assert whole.x0 <= box.x0 < box.x1 <= whole.x1, (plot, each)
            assert whole.y0 <= box.y0 < box.y1 <= whole.y1, (plot, each)


def axes_of(monkeypatch: pytest.MonkeyPatch, path: Path, rows: list[TableRow], plot: Plot) -> Any:
    """Return the axes of a plot after it was drawn."""
    found = drawn(monkeypatch)
    perform.write_plot(path / "a", "svg", "a title", rows, "n", plot)
    found[0].draw_without_rendering()
    return found[0].axes[0]


def test_no_two_curves_look_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [{"n": n, "by": f"{by}", "gap": float(n)} for n in (1, 2) for by in range(24)]
    axes = axes_of(monkeypatch, tmp_path, rows, Plot("gap", {"gap": "gap"}, by="by"))
    looks = [(line.get_color(), line.get_linestyle()) for line in axes.lines]
    assert len(looks) == len({*looks}) == 24


def test_points_of_one_size_are_not_joined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [{"n": n, "one": 1.0 + m, "kind": f"{m} x {n}"} for n in (100, 250) for m in (5, 10)]
    axes = axes_of(monkeypatch, tmp_path, rows, Plot("gap", {"one": "gap"}))
    assert [line.get_linestyle() for line in axes.lines] == ["None"]
    axes = axes_of(monkeypatch, tmp_path, rows, Plot("gap", {"one": "gap"}, classes="kind"))
    assert [line.get_linestyle() for line in axes.lines] == ["-"]
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["5 x\n100", "10 x\n100", "5 x\n250", "10 x\n250"]


@pytest.mark.parametrize("sizes", [(929, 1979), (1000, 9000), (1000, 30_000), (16, 256), (7, 8)])
def test_labels_of_sizes_have_no_exponent(
    sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rows = [{"n": n, "one": 0.01 * n} for n in sizes]
    axes = axes_of(monkeypatch, tmp_path, rows, Plot("seconds", {"one": "one"}))
    for axis in (axes.xaxis, axes.yaxis):
        low, high = axis.get_view_interval()
        places = [place for place in axis.get_majorticklocs() if low <= place <= high]
        labels = [axis.get_major_formatter()(place, 0) for place in places]
        assert 1 <= len(labels) <= 7, labels
        assert [float(label) for label in labels] == pytest.approx(places, rel=0.01)


def test_the_title_of_a_picture_is_its_caption(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    perform.write_plot(path, "svg", "a table", [{"n": 3, "s": 2.0}], "n", Plot("s", {"s": "ours"}))
    text, title = stored_picture(path)
    assert title == "a table: s, by n"
    assert "currentColor" in text
