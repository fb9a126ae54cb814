"""The plots of every table have all of their texts inside the picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from islands.report.figure import stored_picture
from islands.reproduce import perform
from islands.reproduce.cells import Plot, TableRow


def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the list of figures to come."""
    found, make = list[Any](), perform.new_figure

    def kept(*size: float) -> Any:
        found.append(make(*size))
        return found[-1]

    monkeypatch.setattr(perform, "new_figure", kept)
    return found


def axes_of(monkeypatch: pytest.MonkeyPatch, path: Path, rows: list[TableRow], plot: Plot) -> Any:
    """Return the axes of a plot after it was drawn."""
    found = drawn(monkeypatch)
    perform.write_plot(path / "a", "svg", "a title", rows, "n", plot)
    found[0].draw_without_rendering()
    return found[0].axes[0]


def test_points_of_one_size_are_not_joined(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [{"n": n, "one": 1.0 + m, "kind": f"{m} x {n}"} for n in (100, 250) for m in (5, 10)]
    axes = axes_of(monkeypatch, tmp_path, rows, Plot("gap", {"one": "gap"}))
    assert [line.get_linestyle() for line in axes.lines] == ["None"]
    axes = axes_of(monkeypatch, tmp_path, rows, Plot("gap", {"one": "gap"}, classes="kind"))
    assert [line.get_linestyle() for line in axes.lines] == ["-"]


@pytest.mark.parametrize("sizes", [(929, 1979), (1000, 30_000), (7, 8)])
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
