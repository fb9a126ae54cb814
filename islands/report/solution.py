"""Draw solutions: tours, assignments, knapsacks, and those that a `plot` function draws."""

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import IslandsError, RunError
from islands.problems import utilities
from islands.problems.base import Problem, Solution
from islands.problems.kinds import SOLUTION_KINDS
from islands.problems.mixed import MixedKind
from islands.problems.mkp import Mkp
from islands.problems.qap import Qap
from islands.problems.solution_kinds import OrderKind
from islands.problems.tsp import Tsp
from islands.report.figure import COLOURS, HEIGHT, WIDTH, matrices, new_figure, whole_ticks
from islands.text import one_line

_MANY_EDGES = 3000
"""Tours with more cities are rasterised, to keep files small."""
_MARKED = 300
"""Maximum number of cities with a marker."""
_NAMED = 40
"""Maximum number of cities that are labelled with their names, if they have any."""
_LONGEST = 80
"""Maximum length of the value of a parameter, and of the caption of a user's function."""
_PRICED = 250_000
"""Maximum number of weights for which the linear relaxation, which prices capacities, is solved."""


def shows_more_than_items(problem: Problem | None, kind: str) -> bool:
    """Return whether a picture shows more than the list of items.

    A plain picture of an order or of named values does not.
    """
    if kind not in (OrderKind.name, MixedKind.name) or _drawing_of(problem) is not None:
        return True
    return problem is not None and problem.plot is not None


def draw_solution(problem: Problem | None, kind: str, solution: Solution) -> tuple[Any, str]:
    """Return a figure of a solution, and its description.

    Without the problem, only the numbers of the solution are drawn.
    """
    if problem is not None and problem.plot is not None:
        figure = new_figure(WIDTH, WIDTH)
        return figure, _plotted(problem.plot, figure.add_subplot(), solution)
    drawing = _drawing_of(problem)
    return _numbers(kind, solution) if drawing is None else drawing(problem, solution)


def draw_into(axes: Any, problem: Problem | None, kind: str, solution: Solution) -> None:
    """Draw a solution into axes; reject one that needs several axes."""
    if problem is not None and problem.plot is not None:
        _plotted(problem.plot, axes, solution)
    elif isinstance(problem, Qap):
        raise RunError("an assignment needs two axes. Leave axes out")
    elif isinstance(problem, Tsp) and _places(problem) is not None:
        _draw_tour(axes, problem, solution)
    else:
        _draw_numbers(axes, kind, solution)


def _plotted(function: Callable[[Solution, Any], Any], axes: Any, solution: Solution) -> str:
    """Draw a solution with the `plot` function of its problem; return the caption."""
    try:
        function(solution.copy(), axes)
    except IslandsError:
        raise
    except (Exception, SystemExit) as error:
        raise RunError(f"plot= of the problem failed: {type(error).__name__}: {error}") from error
    # The docstring of a method says "Draw the schedule", the caption "The schedule".
    first = (inspect.getdoc(function) or "").partition("\n")[0]
    if not first.startswith("Draw "):
        return "Drawn by the plot function of the problem."
    words = one_line(first.removeprefix("Draw "), _LONGEST)
    return f"{words[:1].upper()}{words[1:]}"


def _tour(problem: Tsp, tour: Solution) -> tuple[Any, str]:
    places = _places(problem)
    if places is None:
        figure = new_figure()
        axes = figure.add_subplot()
        lengths = np.sort(problem.near.along(tour))[::-1]
        axes.plot(np.arange(1, len(lengths) + 1), lengths, color=COLOURS[0])
        axes.set(xlabel="edges, longest first", ylabel="length", ylim=(0, None))
        return figure, "The lengths of the edges of the tour, as the instance has no coordinates."
    spread = np.ptp(places, axis=0)
    high = spread[1] * _stretch(problem, places)
    height = WIDTH * float(np.clip(high / max(spread[0], 1e-300), 0.4, 1.3))
    figure = new_figure(WIDTH, height)
    _draw_tour(figure.add_subplot(), problem, tour)
    return figure, f"The tour through {len(tour)} cities."


def _places(problem: Tsp) -> NDArray[np.float64] | None:
    file = problem.file
    if file.places is not None:
        return file.places
    if file.metric == "GEO" and file.coordinates is not None:
        return file.coordinates[:, ::-1]  # latitude comes first in the file
    return file.coordinates


def _stretch(problem: Tsp, places: NDArray[np.float64]) -> float:
    """Return the length of a degree of latitude in degrees of longitude; 1 in a plane."""
    if problem.file.places is None and problem.file.metric != "GEO":
        return 1.0
    return 1 / max(math.cos(math.radians(float(places[:, 1].mean()))), 0.1)


def _draw_tour(axes: Any, problem: Tsp, tour: Solution) -> None:
    places = _places(problem)
    assert places is not None
    is_closed = problem.file.ends is None
    places = places[np.append(tour, tour[0]) if is_closed else tour]
    many = len(tour) > _MANY_EDGES
    axes.plot(
        *places.T,
        color=COLOURS[0],
        linewidth=0.4 if many else 0.9,
        marker="o" if len(tour) <= _MARKED else None,
        markersize=2.5,
        rasterized=many,
    )
    names = problem.file.labels
    if names is not None and len(tour) <= _NAMED:
        beside: dict[str, Any] = {"xytext": (3, 3), "textcoords": "offset points"}
        for city, place in zip(tour.tolist(), places[: len(tour)], strict=True):
            axes.annotate(one_line(names[city]), place, fontsize=6, parse_math=False, **beside)
    axes.set_aspect(_stretch(problem, places[: len(tour)]), adjustable="datalim")
    axes.set_axis_off()


def _assignment(problem: Qap, places: Solution) -> tuple[Any, str]:
    file = problem.file
    parts = {"A: flow": file.a, "B: distance, permuted": file.b[np.ix_(places, places)]}
    words = (
        "The flow between each pair of facilities, and the distance between their locations: large"
        " flows should coincide with small distances."
    )
    if file.linear is not None:
        parts["linear, permuted"] = file.linear[:, places]
        words += " The diagonal of the linear costs is their part of the cost."
    return matrices(parts, ("facility", "facility"), height=WIDTH / len(parts) + 0.5), words


def _knapsack(problem: Mkp, chosen: Solution) -> tuple[Any, str]:
    file = problem.file
    loads = 100.0 * (file.weights @ chosen) / np.maximum(file.capacities, 1)
    prices = _prices(problem)
    figure = new_figure(WIDTH, HEIGHT * (1.0 if prices is None else 1.8))
    panels = np.atleast_1d(figure.subplots(1 if prices is None else 2, 1))
    panels[0].bar(np.arange(1, len(loads) + 1), loads, color=COLOURS[0], width=0.8)
    panels[0].axhline(100, color=COLOURS[1], linewidth=0.8)
    panels[0].set(xlabel="constraint", ylabel="load in % of the capacity")
    panels[0].xaxis.set_major_locator(whole_ticks(10))
    if prices is None:
        return figure, "The load of each constraint."
    reduced = problem.scale.value_of(file.profits - prices @ file.weights)
    order = np.argsort(-reduced, kind="stable")
    x, taken = np.arange(1, len(order) + 1), chosen[order] == 1
    for mask, colour, words in ((taken, COLOURS[0], "chosen"), (~taken, COLOURS[1], "left out")):
        panels[1].plot(
            *(x[mask], reduced[order][mask], "."),
            color=colour,
            markersize=4,
            label=words,
            rasterized=len(order) > _MANY_EDGES,
        )
    panels[1].axhline(0, color="#8a8a8a", linewidth=0.8)
    panels[1].set(xlabel="items by reduced cost", ylabel="reduced cost")
    panels[1].legend()
    return figure, (
        "The load of each constraint, and the reduced cost of each item in the linear relaxation:"
        " its profit minus its weight at dual prices."
    )


def _prices(problem: Mkp) -> NDArray[np.float64] | None:
    if problem.file.weights.size > _PRICED:
        return None
    try:
        return utilities.prices_of(problem.file, "lp")
    except IslandsError:
        return None


def _numbers(kind: str, solution: Solution) -> tuple[Any, str]:
    figure = new_figure()
    _draw_numbers(figure.add_subplot(), kind, solution)
    return figure, SOLUTION_KINDS[kind].picture


def _draw_numbers(axes: Any, kind: str, solution: Solution) -> None:
    if kind == MixedKind.name:
        listed = SOLUTION_KINDS[kind].listed(solution)
        lines = [f"{name}   {one_line(str(value), _LONGEST)}" for name, value in listed.items()]
        axes.set_axis_off()
        axes.text(0, 1, "\n".join(lines), va="top", transform=axes.transAxes)
        return
    x = np.arange(len(solution))
    many = len(solution) > _MANY_EDGES
    place, entry = SOLUTION_KINDS[kind].axes
    if not entry:
        chosen = np.flatnonzero(solution)
        axes.plot(chosen, np.zeros(len(chosen)), "|", markersize=30, color=COLOURS[0])
        axes.set(xlabel=place, yticks=[], xlim=(-0.5, len(solution) - 0.5))
        return
    axes.plot(x, solution, "." if many else "o", markersize=2.5, color=COLOURS[0], rasterized=many)
    axes.set(xlabel=place, ylabel=entry)
    axes.xaxis.set_major_locator(whole_ticks(8))


_DRAWN: dict[type[Problem], Callable[[Any, Solution], tuple[Any, str]]] = {
    Tsp: _tour,
    Qap: _assignment,
    Mkp: _knapsack,
}
"""The functions that return a figure of a solution, and its description."""


def _drawing_of(problem: Problem | None) -> Callable[[Any, Solution], tuple[Any, str]] | None:
    return next((draws for kind, draws in _DRAWN.items() if isinstance(problem, kind)), None)
