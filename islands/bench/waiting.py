"""A cost in Python that only waits, such as for another program: what ranks gain at most."""

from __future__ import annotations

import time
from typing import Any

from numpy.typing import NDArray

from islands.modelling.api import permutation
from islands.problems.base import Problem

NAME = "sleep"
"""The name by which benchmarks know it."""
SECONDS = 0.005
_ITEMS = 50


def cost(order: NDArray[Any]) -> int:
    """Return a cost of an order after 5 ms."""
    time.sleep(SECONDS)
    return int(abs(order[1:] - order[:-1]).sum())


SETTINGS = {"algorithm": "ga", "islands": 1, "population": 256}
"""Settings with which an island has much to divide."""


def problem() -> Problem:
    """Return the problem, whose best known value nobody needs."""
    return permutation(_ITEMS, function=cost, name=NAME)
