"""Integers for real costs have the order of the costs, on the host and on the device."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from fakes import FakeProblem
from models_for_tests import cost_text

import islands
from islands.backends.base import Backend
from islands.instances.catalogue import BestKnown
from islands.modelling.evaluation import costs_of
from islands.problems.real_costs import INFINITE, NOT_A_NUMBER, agree, ordered, real_of

TINY = np.nextafter(0.0, 1.0)
LARGEST = np.finfo(np.float64).max
_USUAL = [0.0, TINY, 1e-310, np.finfo(np.float64).tiny, 0.1, 1.0, 1.0 + 2**-52, 2.0, 1e300]
EDGES = np.unique([*_USUAL, LARGEST, np.inf, *(-value for value in (*_USUAL, LARGEST, np.inf))])


def test_the_order_is_that_of_sorted() -> None:
    random = np.random.default_rng(3)
    costs = np.concatenate(
        [EDGES, -EDGES, random.normal(size=500) * 10.0 ** random.integers(-300, 300, 500)]
    )
    units = ordered(costs)
    assert [real_of(each) for each in sorted(units.tolist())] == sorted((costs + 0.0).tolist())
    assert all(a < b for a, b in pairwise(ordered(EDGES).tolist()))


def test_both_zeros_are_the_same_cost() -> None:
    assert ordered(np.array([-0.0, 0.0])).tolist() == [0, 0]
    assert math.copysign(1.0, real_of(0)) == 1.0


def test_costs_agree_that_differ_by_rounding_only() -> None:
    assert agree(3e5, 3e5 * (1 + 1e-10), real=True)
    assert not agree(3e5, 3e5 * (1 + 1e-8), real=True)
    assert not agree(3e5, 3e5 + 1, real=False)


def test_nan_is_worse_than_infinity() -> None:
    negative_nan = np.array([0xFFF8000000000001], np.uint64).view(np.float64)
    found = ordered(np.concatenate([[np.nan, np.inf], negative_nan]))
    assert found.tolist() == [NOT_A_NUMBER, INFINITE, NOT_A_NUMBER]
    assert NOT_A_NUMBER > INFINITE > ordered(np.array([LARGEST]))[0]


@pytest.mark.parametrize("maximise", [False, True])
def test_the_device_has_the_same_integers(backend: Backend, maximise: bool) -> None:
    # NaN and an infinity that is better than all other costs are rejected.
    values = np.concatenate([EDGES[:-1] if maximise else EDGES[1:], [-0.0]])
    own: Any = {"cost": cost_text("return data.values[s[0]];", "double"), "maximise": maximise}
    problem = islands.permutation(len(values), data={"values": values}, **own)
    orders = np.stack([np.roll(np.arange(len(values)), -i) for i in range(len(values))])
    found = costs_of(problem, orders, backend.name)
    assert found.tolist() == ordered(-values if maximise else values).tolist()


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
def test_worse_costs_have_gaps(
    best: int | None, cost: int, maximise: bool, gap: float | None
) -> None:
    known = None if best is None else BestKnown(best, "best_known", "a list")
    assert FakeProblem(known, maximise=maximise).gap(cost) == gap
