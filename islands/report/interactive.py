"""The values of curves that templates/page.js shows at the pointer."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_POINTS = 200
"""Maximum number of points of a curve whose values are shown."""
_DIGITS = 10
_INCH = 72.0
"""Units of an SVG in an inch."""


def panels_of(figure: Any, colour_of: Callable[[Any], str]) -> str:
    """Return the named curves of a figure as JSON: their values, and positions in the picture.

    `colour_of` converts a colour of Matplotlib to one of CSS.
    """
    height = figure.get_figheight() * _INCH
    panels = [panel for axes in figure.axes if (panel := _panel(axes, height, colour_of))]
    return json.dumps(panels, separators=(",", ":"), allow_nan=False) if panels else ""


def _panel(axes: Any, height: float, colour_of: Callable[[Any], str]) -> dict[str, Any] | None:
    if axes.xaxis.have_units() or axes.yaxis.have_units():
        return None  # dates or categories
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
        colour = colour_of(line.get_color())
        group["lines"].append({"name": name, "colour": colour, "y": [*_values(y)]})
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
