"""Courses, migrants, lineages and losses over time, compared with loops and values by hand."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from islands.report.course import draw_best
from islands.report.history import History, Lineage, Migrants, sense_of
from islands.studies.pages.curves import Curve, bands, profiles, target_of, times_to_targets

ROWS = [
    # rank, island, generation, seconds, best, its generation, mean
    (1, 7, 0, 0.5, 50, 0, 60.0),
    (0, 2, 0, 0.4, None, 0, 70.0),
    (0, 2, 10, 1.0, 40, 7, 55.0),
    (1, 7, 20, 2.5, 45, 12, 50.0),
    (0, 2, 20, 2.0, 42, 18, 41.0),
]


def trace(sign: int = 1) -> pa.Table:
    rank, island, generation, seconds, best, best_generation, mean = zip(*ROWS, strict=True)
    columns: dict[str, Any] = {"rank": rank, "island": island, "generation": generation}
    columns |= {"seconds": seconds, "best": [cost and sign * cost for cost in best]}
    columns |= {"best_generation": best_generation, "mean": [sign * cost for cost in mean]}
    columns |= {"worst": [sign * 100] * len(ROWS), "distance": [None] * len(ROWS)}
    columns |= {"evaluations": [10 * (g + 1) for g in generation], "distinct": [1.0] * len(ROWS)}
    return pa.table(columns)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_picture_of_the_best_cost_is_over_seconds(sign: int) -> None:
    (curve,) = draw_best(trace(sign), maximise=sign < 0, title="a run").lines
    assert curve.get_xdata().tolist() == [0.5, 1.0, 2.5]  # the latest row of each generation
    assert curve.get_ydata().tolist() == [sign * 50, sign * 40, sign * 40]


@pytest.mark.parametrize("sign", [1, -1])
def test_tables_carry_the_last_row_of_an_island_on(sign: int) -> None:
    history = History.of(trace(sign), maximise=sign < 0)
    assert history.generations.tolist() == [0, 10, 20]
    assert history.islands.tolist() == [2, 7]
    assert history.ranks.tolist() == [0, 1]
    assert history.seconds.tolist() == [0.5, 1.0, 2.5]
    best = (sign * history.best).tolist()
    assert math.isnan(best[0][0])
    assert best[0][1:] + best[1] + best[2] == [50, 40, 50, 42, 45]
    assert (sign * history.overall()).tolist() == [50, 40, 40]
    assert history.evaluations.tolist() == [20, 120, 420]
    assert history.losses(np.array([sign * 44.0]), sign * 40.0).tolist() == [10.0]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_new_best_is_between_the_rows_at_its_generation(sign: int) -> None:
    history = History.of(trace(sign), maximise=sign < 0)
    for column, expected in {
        None: {0.5: 50, 0.85: 40, 2.5: 40},
        0: {0.85: 40, 2.2: 42, 2.5: 42},
        1: {0.5: 50, 1.3: 45, 2.5: 45},
    }.items():
        at, best = history.changes(history.seconds, column)
        assert at.tolist() == pytest.approx([*expected])
        assert (sign * best).tolist() == [*expected.values()]


def test_the_sense_is_seen_in_the_rows() -> None:
    assert sense_of(trace(1)) is False
    assert sense_of(trace(-1)) is True
    table = trace()
    same = table.set_column(table.column_names.index("worst"), "worst", table["best"])
    assert sense_of(same) is None


@pytest.mark.parametrize("most", [2, 3, 7, 100])
def test_thinning_keeps_the_first_and_last_generation(most: int) -> None:
    count = 50
    table = pa.concat_tables(
        [trace().slice(0, 1).set_column(2, "generation", [[each]]) for each in range(count)]
    )
    thin = History.of(table, maximise=False).thinned(most)
    assert len(thin) == min(most, count)
    assert (thin.generations[0], thin.generations[-1]) == (0, count - 1)
    assert len(thin.best) == len(thin)


BEST = {0: [90, 80, 60, 50], 1: [95, 70, 65, 64], 2: [99, 98, 55, 54]}
"""The best of each island in the generations 0, 10, 20 and 30."""
MIGRANTS = [
    # generation, from, to, cost, accepted
    (10, 0, 1, 75, True),  # better than 95
    (10, 2, 0, 97, True),  # worse than 90
    (20, 1, 2, 57, True),  # better than 98
    (20, 0, 2, 80, False),
    (20, 2, 1, 71, True),  # worse than 70
    (30, 2, 0, 55, True),  # better than 60
    (30, 1, 0, 58, True),  # better than 60, but less so: another one became the best
    (30, 1, 0, 55, True),  # as good as the first one, which counts
]


def arrivals(sign: int, migrants: list[Any] = MIGRANTS) -> tuple[Migrants, History]:
    rows = [(10 * g, i, sign * b) for i, costs in BEST.items() for g, b in enumerate(costs)]
    generation, island, best = zip(*rows, strict=True)
    columns: dict[str, Any] = {"rank": [0] * len(rows), "island": island, "best": best}
    columns |= {"generation": generation, "best_generation": generation}
    names = ("seconds", "mean", "distance", "distinct", "evaluations")
    trace = pa.table(columns | dict.fromkeys(names, [0.0] * len(rows)))
    history = History.of(trace, maximise=sign < 0)
    generation, source, target, cost, accepted = zip(*migrants, strict=True)
    ways = {"generation": generation, "from": source, "to": target, "accepted": accepted}
    migrations = pa.table({**ways, "cost": [sign * value for value in cost]})
    return Migrants.of(migrations, history), history


@pytest.mark.parametrize("sign", [1, -1])
def test_gains_are_relative_to_the_row_before(sign: int) -> None:
    found, history = arrivals(sign)
    assert found.gain.tolist() == [20, 0, 41, 0, 0, 5, 0, 0]
    sent = found.matrix(history.islands, np.ones(len(found)))
    assert sent.tolist() == [[0, 2, 2], [1, 0, 1], [1, 1, 0]]
    assert found.matrix(history.islands, found.gain).tolist() == [[0, 0, 5], [20, 0, 0], [0, 41, 0]]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_lineage_goes_back_from_island_to_island(sign: int) -> None:
    found, _ = arrivals(sign)
    steps = Lineage.of(found, island=0, generation=30).steps
    moves = [(step.generation, step.source, step.target) for step in steps]
    assert moves == [(10, 0, 1), (20, 1, 2), (30, 2, 0)]
    assert [step.gain for step in steps] == [20, 41, 5]
    assert Lineage.of(found, island=0, generation=29).steps == []


def test_an_emigrant_left_before_the_arrivals_of_its_generation() -> None:
    # In generation 20, island 0 sends to island 1 while island 1 sends to island 2.
    first, same, last = (10, 0, 1, 75, True), (20, 0, 1, 60, True), (20, 1, 2, 57, True)
    for migrants, sources in (([first, same, last], [0, 1]), ([same, last], [1])):
        found, _ = arrivals(1, migrants)
        assert (found.gain > 0).all()
        assert [step.source for step in Lineage.of(found, island=2, generation=30).steps] == sources


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


def test_profiles_are_ratios_to_the_fastest() -> None:
    times = {
        "x": [("a", 1, 4.0), ("a", 2, INF), ("b", 1, 2.0), ("c", 1, 1.0)],
        "y": [("a", 1, 8.0), ("a", 2, 3.0), ("b", 1, 1.0)],
    }
    ratios = profiles(times)
    assert (ratios["x"].tolist(), ratios["y"].tolist()) == ([1.0, 2.0, INF], [1.0, 1.0, 2.0])

    # Less than a millisecond is not an advantage.
    times = {"x": [("a", 1, 0.0), ("b", 1, 0.002)], "y": [("a", 1, 0.0009), ("b", 1, 0.0)]}
    quick = profiles(times)
    assert (quick["x"].tolist(), quick["y"].tolist()) == ([1.0, 2.0], [1.0, 1.0])
