"""Figures of a page show their values at the pointer and are magnified by the page's script."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from checked_pages import page

from islands.report.course import draw_convergence
from islands.report.figure import inline, new_figure, style
from islands.report.interactive import SCRIPT
from islands.report.page import Page, plot
from islands.report.recorded import RecordedRun

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Browsers that can print the document after its scripts have run."""
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)


def panels(svg: str) -> list[dict[str, object]]:
    """Return the values of curves that are stored in a picture."""
    found = re.search(r' data-panels="([^"]*)"', svg)
    return [] if found is None else json.loads(unescape(found[1]))


def drawn(x: object, y: object, name: str = "a", scale: str = "linear") -> str:
    """Return a picture with one curve."""
    with style():
        figure = new_figure()
        axes = figure.add_subplot()
        axes.plot(x, y, label=name)
        axes.set(xlabel="second", xscale=scale)
        return inline(figure, "a curve")


@pytest.mark.slow
def test_values_are_those_of_the_history_of_a_run(runs: Path) -> None:
    history = RecordedRun.read(runs / "tsp").history
    assert history is not None
    with style():
        best, mean, *_ = panels(inline(draw_convergence(history), "course"))
    assert best["label"] == mean["label"] == "generation"
    ((group,), (others,)) = best["groups"], mean["groups"]
    assert group["x"] == history.generations.tolist()
    assert [line["name"] for line in group["lines"]] == [*(f"island {i}" for i in range(4)), "all"]
    wanted = history.losses(history.mean, float(history.overall()[-1]))
    assert np.allclose([line["y"] for line in others["lines"]], wanted.T, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["linear", "log"])
def test_places_are_those_of_the_picture(scale: str) -> None:
    svg = drawn([1, 2, 4, 8], [3, 1, 2, 0.5], scale=scale)
    (panel,) = panels(svg)
    (group,) = panel["groups"]
    paths = re.findall(r'<path d="M ([^"]*)"[^>]*stroke: #3f86c9|<path d="M ([^"]*)"', svg)
    points = [[float(w) for w in re.findall(r"-?[\d.]+", "".join(each))] for each in paths]
    curve = next(each for each in points if len(each) == 8)
    assert np.allclose(group["places"], curve[::2], atol=0.02)
    left, top, right, bottom = panel["box"]
    assert left <= min(curve[::2]) <= max(curve[::2]) <= right
    assert top <= min(curve[1::2]) <= max(curve[1::2]) <= bottom


def test_only_the_script_of_the_page_may_run() -> None:
    text = Page("title").html()
    (allowed,) = re.findall(r"script-src 'sha256-([^']*)'", text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    assert script == SCRIPT
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


_ACT = """
const picture = document.querySelector("figure svg"), box = picture.getBoundingClientRect();
picture.setPointerCapture = () => {};
const act = (type, x, y) => picture.dispatchEvent(new PointerEvent(type, {pointerType: "mouse",
  clientX: box.left + x * box.width, clientY: box.top + y * box.height, bubbles: true}));
const view = () => picture.getAttribute("viewBox").split(" ").map(Number);
const seen = {home: view()};
act("pointermove", 0.5, 0.1);
seen.tip = [...document.querySelector(".tip").children].map((each) => each.textContent);
seen.hidden = [document.querySelector(".tip").hidden];
act("pointermove", 0.5, 0.999);
seen.hidden.push(document.querySelector(".tip").hidden);
act("pointerdown", 0.25, 0.1); act("pointermove", 0.5, 0.2); act("pointerup", 0.75, 0.3);
seen.near = view();
picture.dispatchEvent(new MouseEvent("dblclick", {bubbles: true}));
seen.again = view();
document.body.textContent = JSON.stringify(seen);
document.body.dataset.done = "yes";
"""


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_a_browser_shows_values_and_magnifies(runs: Path, tmp_path: Path) -> None:
    text = page(runs / "tsp")
    mine = base64.b64encode(hashlib.sha256(_ACT.encode()).digest()).decode()
    text = text.replace("script-src ", f"script-src 'sha256-{mine}' ")
    path = tmp_path / "page.html"
    path.write_text(text.replace("</body>", f"<script>{_ACT}</script></body>"), encoding="utf-8")
    line = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    line += [f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1280,1400", path.as_uri()]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    found = re.search(r'<body data-done="yes">(.*)</body>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr[-500:]
    seen = json.loads(unescape(found[1]))
    run = RecordedRun.read(runs / "tsp")
    history, known = run.history, run.best_known
    assert history is not None
    assert known is not None
    assert seen["hidden"] == [False, True]
    generation = int(seen["tip"][0].removeprefix("generation "))
    row = history.generations.tolist().index(generation)
    loss = history.losses(history.best, known)[row]
    assert [float(each.split(": ")[1]) for each in seen["tip"][1:5]] == pytest.approx(
        loss.tolist(), rel=1e-4
    )
    x, _, width, height = seen["near"]
    _, _, whole, tall = seen["home"]
    assert width == pytest.approx(whole / 2, abs=0.05)
    assert height / width == pytest.approx(tall / whole, rel=1e-3)
    assert x == pytest.approx(whole / 4, abs=0.05)
    assert seen["again"] == seen["home"]
