"""Pictures of graphs."""

import numpy as np
import pytest

from islands.models.drawing import draw_graph


def test_a_graph_is_drawn_as_a_matrix_by_class() -> None:
    """Lines between the nodes of a dense graph would fill the picture."""
    figures = pytest.importorskip("matplotlib.figure")
    axes = figures.Figure().add_subplot()
    pairs = np.array([(0, 1), (0, 2), (1, 2), (2, 3)])
    draw_graph(axes, pairs, [1, 0, 1, 0])  # in the order 1, 3, 0, 2
    between, within, *borders = [line.get_xydata() for line in axes.get_lines()]
    assert set(map(tuple, between)) == {(2, 0), (0, 3), (3, 1), (0, 2), (3, 0), (1, 3)}
    assert set(map(tuple, within)) == {(2, 3), (3, 2)}
    assert [sorted({*points.ravel()} - {0, 1}) for points in borders] == [[1.5], [1.5]]
    assert axes.get_title() == "3 edges between classes (blue), 1 within"
