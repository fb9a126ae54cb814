"""Draw what more ranks gain: speed-ups over the number of ranks, with the ideal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from islands.report.figure import COLOURS, HEIGHT, WIDTH, doubling, new_figure

Points = Sequence[tuple[int, float]]
"""Numbers of ranks with their speed-ups."""
_MARKERS = ("o", "s", "D", "^", "v", "<", ">", "p")


def draw_speed_ups(panels: Mapping[str, Mapping[str, Points]]) -> Any:
    """Return a figure with a panel of curves for each kind of speed-up; one name has one look."""
    names = list(dict.fromkeys(name for curves in panels.values() for name in curves))
    figure = new_figure(WIDTH * max(1, len(panels)), HEIGHT + 0.13 * len(names))
    drawn = dict[str, Any]()
    for axes, (title, curves) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
    ):
        ranks = sorted({number for points in curves.values() for number, _ in points})
        (drawn["ideal"],) = axes.plot(ranks, ranks, color="#808080", linestyle=":")
        for name, points in curves.items():
            (drawn[name],) = axes.plot(*zip(*points, strict=True), **_look(names.index(name)))
        axes.set(title=title, xlabel="ranks", ylabel="speed-up over one rank")
        for axis in (axes.xaxis, axes.yaxis):
            doubling(axis)
    figure.legend(drawn.values(), drawn.keys(), loc="outside upper left", ncols=2)
    return figure


def _look(place: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place % len(COLOURS)],
        "marker": _MARKERS[place % len(_MARKERS)],
        "markersize": 4,
    }
