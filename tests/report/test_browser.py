"""Texts of a page are easy to see, do not overlap and stay in their boxes, on desktop and phone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from browser import View, browser, faults
from checked_pages import experiment, tuning

from islands.report.figure import inline, logarithmic_from, new_figure, style
from islands.report.folders import page_for
from islands.report.page import Page
from islands.reproduce.cells import Plot
from islands.reproduce.perform import write_plot

pytestmark = pytest.mark.skipif(browser() is None, reason="no Chromium is installed")

WIDTHS = (1280, 390)
"""Of a desktop and of a phone."""
A4 = 718
"""Pixels between the margins of a printed page."""


def views(page: str) -> list[View]:
    return [View(page, width, dark) for width, dark in product(WIDTHS, (False, True))]


@pytest.mark.parametrize("name", ["tsp", "qap", "mkp", "alone", "many"])
def test_pages_of_runs(runs: Path, name: str, tmp_path: Path) -> None:
    assert faults(views(page_for([runs / name]).html()), tmp_path) == [[]] * 4


def test_the_page_of_several_runs(methods: Path, tmp_path: Path) -> None:
    assert faults(views(page_for([methods]).html()), tmp_path) == [[]] * 4


@pytest.mark.parametrize("write", [tuning, experiment])
def test_the_pages_of_a_tuning_and_of_an_experiment(
    write: Callable[[Path], None], tmp_path: Path
) -> None:
    write(tmp_path)
    assert faults(views(page_for([tmp_path]).html()), tmp_path) == [[]] * 4


@pytest.mark.parametrize("columns", [8, 18, 30])
def test_wide_tables_fit_on_paper(columns: int, tmp_path: Path) -> None:
    experiment(tmp_path)
    headings = ["instance", *["a heading of words"] * columns]
    cells = ["qaplib/had16", *["1234567.12"] * columns]
    lines = ["Table 1   how", "", "  ".join(headings), "  ".join(cells), "", "First."]
    (tmp_path / "table1.txt").write_text("\n".join(lines))
    text = page_for([tmp_path]).html().replace("@media print", "@media all")
    assert faults([View(text, A4)], tmp_path) == [[]]


def test_plots_of_experiments(tmp_path: Path) -> None:
    experiment(tmp_path)
    rows = [
        {"n": n, "s": 0.013 * n, "by": f"series {by}", "kind": f"{m} x {n}"}
        for m in (5, 10, 30)
        for n in (60, 100, 1210)
        for by in range(13)
    ]
    ours = {"s": "ours"}
    plots = [Plot("seconds", ours), Plot("seconds", ours, by="by")]
    plots.append(Plot("gap, %", ours, by="by", logarithmic=False, classes="kind"))
    for number, plot in enumerate(plots):
        path = tmp_path / f"table1-{number}.svg"
        write_plot(path, "svg", "a table", rows, "n", plot)
    assert faults(views(page_for([tmp_path]).html()), tmp_path) == [[]] * 4


def test_the_labels_of_gaps_of_any_size_do_not_overlap(tmp_path: Path) -> None:
    sizes = list(product((1e-3, 0.4, 1.2, 2.0, 9.9), (250.0, 6e5)))
    shown = faults([View(_gaps(*each), 1280) for each in sizes], tmp_path)
    assert dict(zip(sizes, shown, strict=True)) == {each: [] for each in sizes}


def _gaps(least: float, greatest: float) -> str:
    """Return a page with a plot of gaps."""
    made = Page("gaps")
    with style():
        picture = new_figure()
        axes = picture.add_subplot()
        axes.plot([0, 1, 2], [greatest, least, 0])
        logarithmic_from(axes.yaxis, least, greatest)
        axes.set_ylim(bottom=0)
        made.add(inline(picture, "gaps"))
    return made.html()


def test_faults_are_found(tmp_path: Path) -> None:
    over = '<p style="position: absolute; top: 9px; left: 9px">'
    pages = (
        f"<!doctype html>{over}one</p>{over}two</p>",
        '<!doctype html><p style="position: absolute; left: 380px">far away</p>',
        '<!doctype html><p style="color: #ccc">pale</p>',
        '<svg viewBox="0 0 9 9" width="90"><text x="8" y="8" font-size="5">out</text></svg>',
    )
    overlap, far, pale, out = faults([View(page, 390) for page in pages], tmp_path)
    assert overlap == ["'one' overlaps 'two'"]
    assert any("'far" in fault for fault in far)
    assert pale == ["'pale' is hard to see: contrast 1.6"]
    assert any("leaves its picture" in fault for fault in out)
