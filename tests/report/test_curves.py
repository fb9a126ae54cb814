"""Losses over time, targets, performance profiles and pictures, compared with values by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from islands.report.curves import (
    Curve,
    bands,
    profiles,
    shared_instances,
    target_of,
    times_to_targets,
)

INF = np.inf


def curve(method: str, seed: int, *points: tuple[float, float]) -> Curve:
    seconds, loss = np.array(points).T
    return Curve("a", method, seed, seconds, loss)


CURVES = [
    curve("x", 1, (1.0, INF), (2.0, 8.0), (4.0, 2.0)),
    curve("x", 2, (1.0, 6.0), (3.0, 4.0)),
    curve("y", 1, (1.0, 9.0), (8.0, 3.0)),
    curve("y", 2, (1.0, 9.0), (2.0, 5.0)),
]


def test_a_curve_is_a_step_function_of_time() -> None:
    times = np.array([0.5, 1.0, 2.5, 4.0, 99.0])
    assert CURVES[0].at(times).tolist() == [INF, INF, 8.0, 2.0, 2.0]
    assert CURVES[0].time_to(2.0) == 4.0
    assert CURVES[0].time_to(1.9) == INF
    assert CURVES[0].final == 2.0


def test_bands_are_quartiles_of_the_runs() -> None:
    low, middle, high = bands(CURVES, np.array([1.0, 9.0]))
    assert (low[0], middle[0], high[0]) == (6.0, 9.0, 9.0)
    assert (low[1], middle[1], high[1]) == (2.0, 3.0, 4.0)


def test_half_of_the_runs_reach_the_target() -> None:
    assert target_of(CURVES) == 3.0
    times = times_to_targets(CURVES)
    assert times == {"x": [("a", 1, 4.0), ("a", 2, INF)], "y": [("a", 1, 8.0), ("a", 2, INF)]}


def test_instances_are_shared_if_all_methods_have_run_them() -> None:
    other = [replace(each, instance="b") for each in CURVES if each.method == "y"]
    third = [replace(each, instance="c") for each in CURVES]
    assert shared_instances([*CURVES, *other, *third]) == ["a", "c"]
    assert shared_instances(other) == ["b"]


def test_profiles_are_ratios_to_the_fastest() -> None:
    times = {
        "x": [("a", 1, 4.0), ("a", 2, INF), ("b", 1, 2.0), ("c", 1, 1.0)],
        "y": [("a", 1, 8.0), ("a", 2, 3.0), ("b", 1, 1.0)],
    }
    found = profiles(times)
    assert found["x"].tolist() == [1.0, 2.0, INF]
    assert found["y"].tolist() == [1.0, 1.0, 2.0]

    # Less than a millisecond is no advantage.
    quick = profiles(
        {"x": [("a", 1, 0.0), ("b", 1, 0.002)], "y": [("a", 1, 0.0009), ("b", 1, 0.0)]}
    )
    assert quick["x"].tolist() == [1.0, 2.0]
    assert quick["y"].tolist() == [1.0, 1.0]
