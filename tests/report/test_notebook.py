"""What a notebook shows of a result, and the line that shows the state of a run in a cell."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

import islands
from islands.report import notebook

SMALL: dict[str, Any] = {"generations": 4, "islands": 2, "population": 16, "backend": "cpu"}


def texts(html: str | None) -> str:
    """Return the texts of HTML that is also XML."""
    assert html is not None
    return "\n".join(ElementTree.fromstring(html).itertext())


def test_names_are_escaped_and_matplotlib_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "find_spec", lambda _: None)
    problem = islands.tsp([[0, 0], [1, 5], [3, 1], [4, 4]], name="<b>&")
    html = islands.solve(problem, **SMALL)._repr_html_()
    assert html is not None
    assert "<svg" not in html
    assert "instance\n<b>& (tsp)" in texts(html)


@pytest.mark.parametrize("what", ["best", "solution", "convergence", "seconds"])
def test_pictures_belong_to_pyplot_so_that_notebooks_show_them(what: str) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    before = {*plt.get_fignums()}
    axes = islands.solve("demo/mkp", **SMALL).plot(what=what)
    try:
        assert axes.figure.number in {*plt.get_fignums()} - before
    finally:
        plt.close(axes.figure)
