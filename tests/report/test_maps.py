"""Pictures of tours through places on the earth."""

from __future__ import annotations

import math

import numpy as np
import pytest

import islands
from islands.report.solution import draw_solution

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
