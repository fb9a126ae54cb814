"""Gaps to the best known value, of all signs and senses."""

from __future__ import annotations

import pytest
from fakes import FakeProblem

from islands.instances.catalogue import BestKnown


@pytest.mark.parametrize(
    ("best", "cost", "maximise", "gap"),
    [
        (200, 210, False, 5.0),
        (200, 190, False, -5.0),
        (-200, -190, False, 5.0),
        (-200, -210, False, -5.0),
        (200, 190, True, 5.0),
        (-200, -210, True, 5.0),
        (0, 0, False, 0.0),
        (0, 1, False, None),
        (None, 1, False, None),
    ],
)
def test_a_worse_cost_has_a_positive_gap(
    best: int | None, cost: int, maximise: bool, gap: float | None
) -> None:
    known = None if best is None else BestKnown(best, "best_known", "a list")
    assert FakeProblem(known, maximise=maximise).gap(cost) == gap
