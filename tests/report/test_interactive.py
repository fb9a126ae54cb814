"""Figures: values at the pointer, maps, and what a notebook shows of a result."""

import base64
import hashlib
import json
import math
import re
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import islands
from islands.report import notebook
from islands.report.course import draw_convergence
from islands.report.figure import inline, new_figure, style
from islands.report.page import TEMPLATES, Page, plot
from islands.report.recorded import RecordedRun
from islands.report.solution import draw_solution


def panels(svg: str) -> list[dict[str, object]]:
    """Return the values of curves that are stored in a picture."""
    found = re.search(r' data-panels="([^"]*)"', svg)
    return [] if found is None else json.loads(unescape(found[1]))


@pytest.mark.slow
def test_values_are_those_of_the_history_of_a_run(runs: Path) -> None:
    history = RecordedRun.read(runs / "tsp").history
    with style():
        best, mean, *_ = panels(inline(draw_convergence(history, "generations"), "course"))
    assert best["label"] == mean["label"] == "generation"
    ((group,), (others,)) = best["groups"], mean["groups"]
    assert {*history.generations.tolist()} <= {*group["x"]}
    assert [line["name"] for line in group["lines"]] == [*(f"island {i}" for i in range(4)), "all"]
    rows, last = np.searchsorted(group["x"], history.generations), float(history.overall()[-1])
    at_rows = np.array([line["y"] for line in group["lines"]])[:, rows]
    assert np.allclose(at_rows[:4], history.losses(history.best, last).T, rtol=1e-9)
    assert np.allclose(at_rows[4], history.losses(history.overall(), last), rtol=1e-9)
    wanted = history.losses(history.mean, last)
    assert np.allclose([line["y"] for line in others["lines"]], wanted.T, rtol=1e-9)


def test_only_the_script_of_the_page_may_run() -> None:
    text = Page("title").html()
    (allowed,) = re.findall(r"script-src 'sha256-([^']*)'", text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert script == (TEMPLATES / "page.js").read_text()
    assert base64.b64decode(allowed) == hashlib.sha256(script.encode()).digest()
    assert "default-src 'none'" in text


def test_the_name_of_a_curve_is_text(tmp_path: Path) -> None:
    evil = "\"><img src=x onerror='document.title=1'>"
    made = Page("title")
    with style():
        figure = new_figure()
        figure.add_subplot().plot([0, 1], [0, 1], label=evil)
        made.add(plot(figure, "a curve"))
    assert "<img" not in made.html()
    assert panels(made.html())[0]["groups"][0]["lines"][0]["name"] == evil


@pytest.mark.parametrize(
    "x", [["a", "b"], [date(2026, 11, 30), date(2026, 12, 1)]], ids=["categories", "dates"]
)
def test_curves_over_dates_and_categories_have_no_values(x: list[Any]) -> None:
    with style():
        figure = new_figure()
        figure.add_subplot().plot(x, [1, 2], label="a curve")
        assert panels(inline(figure, "a picture")) == []


@pytest.mark.parametrize("colour", [np.array([1.0, 0, 0]), (1, 0, 0), "red"])
def test_colours_of_curves_are_those_of_css(colour: Any) -> None:
    with style():
        figure = new_figure()
        figure.add_subplot().plot([1, 2], [1, 2], color=colour, label="a curve")
        ((line,),) = (group["lines"] for group in panels(inline(figure, "red"))[0]["groups"])
    assert line["colour"] == "#ff0000ff"


SMALL: dict[str, Any] = {"generations": 4, "islands": 2, "population": 16, "backend": "cpu"}


def texts(html: str | None) -> str:
    """Return the texts of HTML that is also XML."""
    assert html is not None
    return "\n".join(ElementTree.fromstring(html).itertext())


def test_names_are_escaped_and_matplotlib_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "find_spec", lambda _: None)
    problem = islands.tsp([[0, 0], [1, 5], [3, 1], [4, 4]], name="<b>&")
    html = islands.solve(problem, **SMALL)._repr_html_()
    assert "<svg" not in html
    assert "instance\n<b>& (tsp)" in texts(html)


pytest.importorskip("matplotlib")


def test_a_picture_of_places_has_their_names_and_the_shape_of_a_map() -> None:
    places = [[13.0, 52.0], [14.0, 52.0], [13.0, 53.0]]
    problem = islands.tsp(distances=np.ones((3, 3)), places=places, labels=["a $1$", "b", "c"])
    figure, _ = draw_solution(problem, "order", np.array([2, 0, 1]))
    (axes,) = figure.axes
    assert [each.get_text() for each in axes.texts] == ["c", "a $1$", "b"]
    # On a sphere, by the law of cosines.
    middle, degree = math.radians((52 + 52 + 53) / 3), math.radians(1)
    east = math.acos(math.sin(middle) ** 2 + math.cos(middle) ** 2 * math.cos(degree))
    assert axes.get_aspect() == pytest.approx(degree / east, rel=1e-3)


def test_a_picture_of_a_plane_has_equal_units() -> None:
    figure, _ = draw_solution(islands.tsp([[0, 0], [1, 0], [0, 52]]), "order", np.array([0, 1, 2]))
    (axes,) = figure.axes
    assert axes.get_aspect() == 1
    assert not axes.texts
