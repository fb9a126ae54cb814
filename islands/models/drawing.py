"""Drawings that several models share, into axes of Matplotlib."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_DRAWN = 20_000
"""Maximum number of edges in a picture."""
_VECTORS = 2000
"""Pictures with more edges are rasterised, to keep files small."""
_NUMBERED = 60
"""Up to this many bars per machine, a chart shows the number of each job."""

_Pair = tuple[Any, Any]


def draw_graph(axes: Any, pairs: NDArray[np.int64], classes: Any) -> None:
    """Draw the edges as a matrix of the nodes, which are ordered by class.

    Unlike lines between points, the entries of a matrix do not hide each other.
    """
    classes = np.asarray(classes)
    order, n = np.argsort(classes, kind="stable"), len(classes)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    is_within = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    for edges, colour in ((pairs[~is_within], "C0"), (pairs[is_within], "C1")):
        shown = place[edges[:: max(1, -(-len(pairs) // _DRAWN))]]
        x, y = np.concatenate([shown, shown[:, ::-1]]).T
        size = min(5.0, max(0.5, 250 / n))
        axes.plot(x, y, "s", color=colour, markersize=size, rasterized=len(pairs) > _VECTORS)
    for border in np.flatnonzero(np.diff(classes[order])) + 0.5:
        axes.axhline(border, color="0.5", linewidth=0.8)
        axes.axvline(border, color="0.5", linewidth=0.8)
    within = int(is_within.sum())
    axes.set_title(f"{len(pairs) - within} edges between classes (blue), {within} within")
    axes.set(xlabel="nodes by class", ylabel="nodes by class", aspect="equal")
    axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5))
    axes.grid(visible=False)


def draw_gantt(axes: Any, rows: list[tuple[int, int, int, int]]) -> None:
    """Draw rows of job, machine, start and end as a Gantt chart into Matplotlib axes."""
    machines = sorted({machine for _, machine, *_ in rows})
    is_small = len(rows) <= _NUMBERED * len(machines)
    jobs, on, begins, ends = np.array(rows).reshape(-1, 4).T
    draw_boxes(axes, (begins, on - 0.4), (ends - begins, 0.8), jobs)
    if is_small:
        for job, machine, begin, end in rows:
            axes.text((begin + end) / 2, machine, str(job), ha="center", va="center", fontsize=6)
    axes.set(xlabel="time", ylabel="machine", yticks=machines)
    axes.invert_yaxis()


def draw_boxes(axes: Any, corner: _Pair, size: _Pair, numbers: ArrayLike) -> None:
    """Draw boxes with these lower left corners and sizes, coloured by number, as one object.

    With an object for each box, thousands of boxes would take seconds.
    """
    from matplotlib.collections import PolyCollection

    (x, y), (width, height) = np.broadcast_arrays(*corner), size
    right, top = x + width, y + height
    corners = np.array([(x, y), (right, y), (right, top), (x, top)])
    colours = [f"C{number % 10}" for number in np.asarray(numbers)]
    axes.add_collection(PolyCollection([*np.moveaxis(corners, 2, 0)], facecolors=colours))
    axes.autoscale_view()
