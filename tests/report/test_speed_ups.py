"""The picture of what more ranks gain."""

from __future__ import annotations

import pytest

from islands.report.curves import draw_speed_ups

pytest.importorskip("matplotlib")


def test_each_curve_is_drawn_with_the_ideal() -> None:
    a, b = [(1, 1.0), (2, 1.5), (4, 2.3)], [(1, 1.0), (2, 1.9)]
    figure = draw_speed_ups({"time to best known": {"a": a}, "speed": {"a": a, "b": b}})
    first, second = figure.axes
    assert [line.get_xydata().tolist() for line in first.lines] == [
        [[1, 1], [2, 2], [4, 4]],
        [list(each) for each in a],
    ]
    assert [len(line.get_xydata()) for line in second.lines] == [3, 3, 2]
    assert first.lines[1].get_color() == second.lines[1].get_color() != second.lines[2].get_color()
    assert (first.get_xscale(), first.get_yscale()) == ("log", "log")
    (legend,) = figure.legends
    assert [each.get_text() for each in legend.get_texts()] == ["ideal", "a", "b"]
