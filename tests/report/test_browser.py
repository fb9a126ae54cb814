"""Texts of a page are easy to see, do not overlap and stay in their boxes, on desktop and phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from browser import browser, faults
from page_folders import experiment, tuning

from islands.report.figure import inline, logarithmic_from, new_figure, style
from islands.report.folders import page_for
from islands.report.page import Page

pytestmark = pytest.mark.skipif(browser() is None, reason="no Chromium is installed")

WIDTHS = {"desktop": 1280, "phone": 390}


THEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


@THEMES
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["tsp", "qap", "mkp", "alone"])
def test_pages_of_runs(runs: Path, name: str, width: str, dark: bool, tmp_path: Path) -> None:
    text = page_for([runs / name]).html()
    assert faults(text, WIDTHS[width], tmp_path, dark=dark) == []


@THEMES
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_of_several_runs(methods: Path, width: str, dark: bool, tmp_path: Path) -> None:
    assert faults(page_for([methods]).html(), WIDTHS[width], tmp_path, dark=dark) == []


@THEMES
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("write", [tuning, experiment])
def test_the_pages_of_a_tuning_and_of_an_experiment(
    write: Callable[[Path], None], width: str, dark: bool, tmp_path: Path
) -> None:
    write(tmp_path)
    text = page_for([tmp_path]).html()
    assert faults(text, WIDTHS[width], tmp_path, dark=dark) == []


@pytest.mark.parametrize("least", [1e-3, 0.4, 1.2, 2.0, 9.9])
@pytest.mark.parametrize("greatest", [250.0, 6e5])
def test_the_labels_of_gaps_of_any_size_do_not_overlap(
    least: float, greatest: float, tmp_path: Path
) -> None:
    made = Page("gaps")
    with style():
        picture = new_figure()
        axes = picture.add_subplot()
        axes.plot([0, 1, 2], [greatest, least, 0])
        logarithmic_from(axes, least, greatest)
        axes.set_ylim(bottom=0)
        made.add(inline(picture, "gaps"))
    assert faults(made.html(), 1280, tmp_path) == []


def test_faults_are_found(tmp_path: Path) -> None:
    over = '<p style="position: absolute; top: 9px; left: 9px">'
    text = f"<!doctype html>{over}one</p>{over}two</p>"
    assert faults(text, 390, tmp_path) == ["'one' overlaps 'two'"]
    text = '<!doctype html><p style="position: absolute; left: 380px">far away</p>'
    assert any("'far" in fault for fault in faults(text, 390, tmp_path))
    text = '<!doctype html><p style="color: #ccc">pale</p>'
    assert faults(text, 390, tmp_path) == ["'pale' is hard to see: contrast 1.6"]
    text = '<svg viewBox="0 0 9 9" width="90"><text x="8" y="8" font-size="5">out</text></svg>'
    assert any("leaves its picture" in fault for fault in faults(text, 390, tmp_path))
