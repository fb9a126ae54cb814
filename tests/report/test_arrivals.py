"""What migrants brought, and lineages, compared with rows written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from islands.report.history import History, Lineage, Migrants

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
    rows = [(10 * g, i, sign * b) for i, each in BEST.items() for g, b in enumerate(each)]
    generation, island, best = zip(*rows, strict=True)
    zeros = [0.0] * len(rows)
    trace = pa.table(
        {
            "rank": [0] * len(rows),
            "island": island,
            "generation": generation,
            "best": best,
            **dict.fromkeys(("seconds", "mean", "distance", "distinct", "evaluations"), zeros),
        }
    )
    history = History.of(trace, maximise=sign < 0)
    generation, source, target, cost, accepted = zip(*migrants, strict=True)
    migrations = pa.table(
        {
            "generation": generation,
            "from": source,
            "to": target,
            "cost": [sign * each for each in cost],
            "accepted": accepted,
        }
    )
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
    assert [(step.generation, step.source, step.target) for step in steps] == [
        (10, 0, 1),
        (20, 1, 2),
        (30, 2, 0),
    ]
    assert [step.gain for step in steps] == [20, 41, 5]
    assert Lineage.of(found, island=0, generation=29).steps == []


def test_an_emigrant_left_before_the_arrivals_of_its_generation() -> None:
    # In generation 20, island 0 sends to island 1 while island 1 sends to island 2.
    first, same, last = (10, 0, 1, 75, True), (20, 0, 1, 60, True), (20, 1, 2, 57, True)
    for migrants, sources in (([first, same, last], [0, 1]), ([same, last], [1])):
        found, _ = arrivals(1, migrants)
        assert (found.gain > 0).all()
        assert [step.source for step in Lineage.of(found, island=2, generation=30).steps] == sources


def test_migrants_of_islands_without_rows_are_left_out_of_the_matrix() -> None:
    found, history = arrivals(1, [*MIGRANTS, (30, 3, 0, 99, True), (30, 0, 7, 99, True)])
    sent = found.matrix(history.islands, np.ones(len(found)))
    assert np.array_equal(sent, arrivals(1)[0].matrix(history.islands, np.ones(len(MIGRANTS))))
    assert sent.sum() == len(MIGRANTS)
