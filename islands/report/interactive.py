"""Interactive figures of a page: values at the pointer, and zoom."""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np

_POINTS = 200
"""Maximum number of points of a curve whose values are shown."""
_DIGITS = 10
_INCH = 72.0
"""Units of an SVG in an inch."""

STYLE = """
figure svg { cursor: crosshair; }
.mark { fill: currentColor; fill-opacity: .12; stroke: currentColor; stroke-width: .4;
  pointer-events: none; }
.tip { position: absolute; z-index: 1; pointer-events: none; width: max-content;
  padding: .3rem .5rem; border: 1px solid var(--grid); border-radius: 5px; background: var(--card);
  font-size: .8rem; line-height: 1.35; font-variant-numeric: tabular-nums; }
.tip i { display: inline-block; width: .7em; height: .7em; margin-right: .4em; border-radius: 50%; }
@media print { .tip, .mark { display: none; } }
"""
SCRIPT = """
"use strict";
const MOST = 17, SMALLEST = 6;  // lines of values; width of a part that is magnified
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
document.body.append(tip);
const number = (value) => value === null ? "-" : value.toLocaleString("en",
  {maximumSignificantDigits: Number.isInteger(value) ? 16 : 5});
const line = (text, colour) => {
  const row = document.createElement("div");
  if (colour) {
    row.append(document.createElement("i"));
    row.firstChild.style.background = colour;
  }
  row.append(text);
  return row;
};
// The last point at or before the pointer.
const before = (places, x) => places.findLastIndex((place) => place <= x + 0.01);
for (const picture of document.querySelectorAll("figure svg")) {
  const home = picture.getAttribute("viewBox"), [, , width, height] = home.split(" ").map(Number);
  const panels = JSON.parse(picture.dataset.panels || "[]");
  const mark = document.createElementNS(picture.namespaceURI, "rect");
  mark.setAttribute("class", "mark");
  let from = null;
  const place = (event) => new DOMPoint(event.clientX, event.clientY)
    .matrixTransform(picture.getScreenCTM().inverse());
  const show = (x, y, w, h) => {
    Object.entries({x, y, width: w, height: h}).forEach((entry) => mark.setAttribute(...entry));
    picture.append(mark);
  };
  const hide = () => { mark.remove(); tip.hidden = true; };
  const part = (to) => [Math.min(from.x, to.x), Math.min(from.y, to.y),
    Math.abs(from.x - to.x), Math.abs(from.y - to.y)];
  picture.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    event.preventDefault();
    from = place(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    const at = place(event);
    if (from !== null) { tip.hidden = true; show(...part(at)); return; }
    const panel = panels.find(({box: [left, top, right, bottom]}) =>
      left <= at.x && at.x <= right && top <= at.y && at.y <= bottom);
    if (panel === undefined) { hide(); return; }
    const rows = [];
    for (const {places, x, lines} of panel.groups) {
      const nth = before(places, at.x);
      if (nth < 0) continue;
      rows.push(line(`${panel.label} ${number(x[nth])}`));
      for (const {name, colour, y} of lines) rows.push(line(`${name}: ${number(y[nth])}`, colour));
    }
    if (rows.length === 0) { hide(); return; }
    if (rows.length > MOST) rows.splice(MOST, rows.length, line("..."));
    tip.replaceChildren(...rows);
    tip.hidden = false;
    const edge = document.documentElement.clientWidth - tip.offsetWidth - 4;
    tip.style.left = `${window.scrollX + Math.max(0, Math.min(event.clientX + 14, edge))}px`;
    tip.style.top = `${window.scrollY + event.clientY + 14}px`;
    show(at.x, panel.box[1], 0.1, panel.box[3] - panel.box[1]);
  });
  picture.addEventListener("pointerup", (event) => {
    if (from === null) return;
    const [x, y, w, h] = part(place(event));
    from = null;
    hide();
    if (w < SMALLEST || h < SMALLEST) return;
    const scale = Math.max(w / width, h / height);  // the picture keeps its shape
    const view = [x + w / 2 - width * scale / 2, y + h / 2 - height * scale / 2];
    picture.setAttribute("viewBox", [...view, width * scale, height * scale].join(" "));
  });
  picture.addEventListener("pointerleave", () => { if (from === null) hide(); });
  picture.addEventListener("pointercancel", () => { from = null; hide(); });
  picture.addEventListener("dblclick", () => picture.setAttribute("viewBox", home));
}
"""


def policy() -> str:
    """Return the security policy of a page: only its own script runs, and nothing is loaded."""
    allowed = b64encode(sha256(SCRIPT.encode()).digest()).decode()
    return (
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        f" style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{allowed}'\">"
    )


def panels_of(figure: Any) -> str:
    """Return the named curves of a figure as JSON: their values, and positions in the picture."""
    height = figure.get_figheight() * _INCH
    panels = [panel for axes in figure.axes if (panel := _panel(axes, height)) is not None]
    return json.dumps(panels, separators=(",", ":"), allow_nan=False) if panels else ""


def _panel(axes: Any, height: float) -> dict[str, Any] | None:
    groups: list[dict[str, Any]] = []
    kind = next((legend.get_title().get_text() for legend in axes.figure.legends), "")
    for line in axes.get_lines():
        x, y = (np.asarray(values, dtype=np.float64) for values in line.get_data())
        if line.get_label().startswith("_") or line.get_transform() != axes.transData or not len(x):
            continue
        x, y = x[np.isfinite(x)], y[np.isfinite(x)]
        if not len(x):
            continue
        chosen = np.unique(np.linspace(0, len(x) - 1, _POINTS).astype(int))
        x, y = x[chosen], y[chosen]
        places = _drawn(axes, np.column_stack([x, np.full(len(x), axes.get_ylim()[0])]), height)
        values = [*_values(x)]
        group = next((group for group in groups if group["x"] == values), None)
        if group is None:
            drawn = [round(float(place), 2) for place in places[:, 0]]
            group = {"places": drawn, "x": values, "lines": []}
            groups.append(group)
        name = f"{kind} {line.get_label()}" if line.get_label().isdigit() else line.get_label()
        group["lines"].append({"name": name, "colour": line.get_color(), "y": [*_values(y)]})
    if not groups:
        return None
    (left, bottom), (right, top) = axes.get_window_extent().get_points() / axes.figure.dpi * _INCH
    box = [round(float(side), 2) for side in (left, height - top, right, height - bottom)]
    return {"box": box, "label": _label(axes), "groups": groups}


def _label(axes: Any) -> str:
    """Return the label of the horizontal axis, which the lowest of several panels has."""
    labels = (panel.get_xlabel() for panel in reversed(axes.figure.axes))
    return next(filter(None, labels), "")


def _drawn(axes: Any, points: np.ndarray, height: float) -> np.ndarray:
    with np.errstate(all="ignore"):
        drawn = axes.transData.transform(points) / axes.figure.dpi * _INCH
    return np.column_stack([drawn[:, 0], height - drawn[:, 1]])


def _values(numbers: np.ndarray) -> Iterator[float | int | None]:
    """Yield numbers for JSON: integers without a decimal point, and None for missing values."""
    for number in numbers.tolist():
        if not math.isfinite(number):
            yield None
        elif number.is_integer() and abs(number) < 2**53:
            yield int(number)
        else:
            yield float(f"{number:.{_DIGITS}g}")
