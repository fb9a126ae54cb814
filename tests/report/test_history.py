"""The course of a run, compared with plain loops over its rows."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from islands.report.course import draw_convergence
from islands.report.history import History, sense_of

ROWS = [
    # rank, island, generation, seconds, best, mean
    (1, 7, 0, 0.5, 50, 60.0),
    (0, 2, 0, 0.4, None, 70.0),
    (0, 2, 10, 1.0, 40, 55.0),
    (1, 7, 20, 2.5, 45, 50.0),
    (0, 2, 20, 2.0, 42, 41.0),
]


def trace(sign: int = 1) -> pa.Table:
    rank, island, generation, seconds, best, mean = zip(*ROWS, strict=True)
    return pa.table(
        {
            "rank": rank,
            "island": island,
            "generation": generation,
            "seconds": seconds,
            "best": [None if each is None else sign * each for each in best],
            "mean": [sign * each for each in mean],
            "worst": [sign * 100] * len(ROWS),
            "evaluations": [10 * (each + 1) for each in generation],
            "distance": [None] * len(ROWS),
            "distinct": [1.0] * len(ROWS),
        }
    )


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


@pytest.mark.parametrize(("best_known", "scale"), [(10, "linear"), (40, "symlog"), (41, "linear")])
def test_gaps_have_a_logarithmic_axis_if_they_differ_much(best_known: int, scale: str) -> None:
    pytest.importorskip("matplotlib")
    figure = draw_convergence(History.of(trace(), maximise=False), best_known=best_known)
    # The gaps of the best are 300 to 400 %, 0 to 25 %, and -2.4 to 22 %.
    assert figure.axes[0].get_yscale() == scale
