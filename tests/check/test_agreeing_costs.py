"""Costs from two ways agree, or the first difference is described."""

from __future__ import annotations

import numpy as np
import pytest

from islands.check.perform import agree

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("one", "other", "size", "is_same"),
    [
        (1.0, 1.0 + 1e-12, 0.0, True),
        (1.0, 1.0 + 1e-8, 0.0, False),
        (1.0, 1.0 + 1e-8, 1e3, True),  # terms of this size were added
        (0.0, 1e-10, 0.0, True),
        (1e20, 1.0000000001e20, 0.0, True),
        (-5.0, 5.0, 0.0, False),
        (INF, INF, 0.0, True),
        (-INF, -INF, 0.0, True),
        (INF, -INF, 0.0, False),
        (INF, 1.0, 0.0, False),
        (1.0, -INF, 0.0, False),
        (1.0, INF, INF, False),
        (NAN, NAN, 0.0, False),
        (NAN, 1.0, 0.0, False),
    ],
)
def test_real_costs_agree_if_they_are_near_and_finite_or_equal(
    one: float, other: float, size: float, is_same: bool
) -> None:
    for first, second in ((one, other), (other, one)):
        found = agree(np.array([first]), np.array([second]), real=True, size=size)
        assert found.tolist() == [is_same]


def test_integer_costs_must_be_equal() -> None:
    costs = np.array([2**62, 5])
    assert agree(costs, costs - [1, 0], real=False).tolist() == [False, True]
