"""What a notebook shows of a result, and the line that shows the state of a run in a cell."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import islands
from islands.display.screen import Screen
from islands.progress.progress import Progress
from islands.report import notebook

SMALL: dict[str, Any] = {"generations": 4, "islands": 2, "population": 16, "backend": "cpu"}


def texts(html: str | None) -> str:
    """Return the texts of HTML that is also XML."""
    assert html is not None
    return "\n".join(ElementTree.fromstring(html).itertext())


def test_a_notebook_shows_facts_a_picture_and_settings(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = islands.solve("demo/mkp", out=tmp_path / "a", **SMALL)
    for shown in (result, islands.read_run(tmp_path / "a")):
        html = shown._repr_html_()
        assert html is not None
        assert html.count("<svg") == 1
        found = texts(html)
        for name, value in result.facts().items():
            assert f"{name}\n{value}" in found
        assert "migration.topology" in found


def test_an_order_without_a_picture_of_its_own_is_shown_by_its_course() -> None:
    pytest.importorskip("matplotlib")
    cost = "__device__ long long cost(const Solution& s, int n, const Data&) { return s[0]; }"
    html = islands.solve(islands.permutation(9, cost=cost, name="plain"), **SMALL)._repr_html_()
    assert html is not None
    assert "convergence of plain" in html
    assert "solution of plain" not in html


def test_names_are_escaped_and_matplotlib_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "find_spec", lambda _: None)
    problem = islands.tsp([[0, 0], [1, 5], [3, 1], [4, 4]], name="<b>&")
    html = islands.solve(problem, **SMALL)._repr_html_()
    assert html is not None
    assert "<svg" not in html
    assert "instance\n<b>& (tsp)" in texts(html)


def test_a_result_without_a_page_has_no_html() -> None:
    result = islands.solve("demo/mkp", **SMALL)
    object.__setattr__(result, "page", None)
    assert result._repr_html_() is None


@pytest.mark.parametrize("what", ["best", "solution", "convergence", "seconds"])
def test_pictures_belong_to_pyplot_so_that_notebooks_show_them(what: str) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    before = {*plt.get_fignums()}
    axes = islands.solve("demo/mkp", **SMALL).plot(what=what)
    try:
        assert axes.figure.number in {*plt.get_fignums()} - before
    finally:
        plt.close(axes.figure)


def test_a_cell_shows_the_state_of_a_run_in_a_line_that_is_rewritten() -> None:
    cell = type("OutStream", (StringIO,), {"__module__": "ipykernel.iostream"})()
    with Screen(cell, None) as screen:
        screen.show(Progress(10, 1000, 2.0, 90, 0, 9, 100.0))
        screen.say("END")
    text = cell.getvalue()
    assert "\x1b" not in text
    blank = f"\r{' ' * 100}\r"
    assert f"{blank}generation 10: best 90, 2 s{blank}END\n" in text
