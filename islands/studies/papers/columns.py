"""Pictures of columns of tables, against the sizes or the classes of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from islands.report.figure import HEIGHT, WIDTH, logarithmic, new_figure, style
from islands.studies.pages.curves import MARKERS, curve_look

_HIGH = 32
"""Characters that fit along the vertical axis."""
_NARROW = 5
"""Names of classes have lines of at most this number of characters."""
_SHORT = 22
"""Up to this number of characters, names of curves have two columns."""

Points = Sequence[tuple[float, ...]]


def draw_columns(
    title: str,
    axes_words: tuple[str, str],
    curves: Sequence[tuple[str, Points]],
    classes: Sequence[str],
    *,
    is_logarithmic: bool,
) -> Any:
    """Return a figure of curves against sizes, or against `classes` at the places 0, 1, 2 ..."""
    x_words, y_words = axes_words
    columns = 1 if max((len(label) for label, _ in curves), default=0) > _SHORT else 2
    with style():
        figure = new_figure(WIDTH, HEIGHT + 0.4 + 0.16 * -(-len(curves) // columns))
        axes = figure.add_subplot()
        for number, (label, points) in enumerate(curves):
            axes.plot(*zip(*points, strict=True), label=label, **_look(number, points))
        axes.set(xlabel=x_words, ylabel=fill(y_words, _HIGH))
        figure.suptitle(title, fontsize=8.5, wrap=True)
        xs, ys = ([point[i] for _, points in curves for point in points] for i in (0, 1))
        if classes:
            axes.set_xticks(range(len(classes)), [fill(name, _NARROW) for name in classes])
        elif xs:
            logarithmic(axes.xaxis, min(xs), max(xs))
        if is_logarithmic and (above := [y for y in ys if y > 0]):
            logarithmic(axes.yaxis, min(above), max(above))
        if curves:
            figure.legend(loc="outside lower left", ncols=columns)
    return figure


def _look(number: int, points: Points) -> dict[str, Any]:
    """Return the look of a curve: no two of a plot have the same colour, marker and line."""
    look = {**curve_look(number), "marker": MARKERS[number % len(MARKERS)], "markersize": 3.5}
    xs = [point[0] for point in points]
    # Points of several instances of one size are no course.
    return look if len({*xs}) == len(xs) else {**look, "linestyle": "none"}
