"""Runs of a user's own problem end in time, whatever an evaluation takes and whoever makes it."""

from __future__ import annotations

from typing import Any

import pytest
from slow_problems import slow

import islands

LIMIT = 1.0  # seconds
LATE = 2.0  # the promise: seconds after the limit


def late(problem: Any, **options: Any) -> float:
    """Return the seconds from the limit to the end of the search."""
    usual: dict[str, Any] = {"backend": "cpu", "threads": 1, "islands": 2, "population": 16}
    result = islands.solve(problem, seconds=LIMIT, **{"seed": 1, **usual, **options})
    assert "at least 1 s" in result.reason
    return result.seconds - LIMIT


# Generation 0 takes no time. Later, neither another individual nor the second of two children is
# begun, and each would take a second.
@pytest.mark.parametrize("kind", ["permutation", "subset", "keys", "real"])
@pytest.mark.parametrize("by", ["cost", "cooperative", "repair"])
def test_evaluations_of_a_second(kind: str, by: str) -> None:
    assert late(slow(kind, by, 1.0, quick=100, real=kind == "real")) < LATE


def test_a_python_function_that_begins_to_take_a_second() -> None:
    assert late(slow("keys", "function", 1.0, quick=100)) < LATE


# A call with several solutions cannot be left: it has more of them only if few were quick.
def test_a_batch_function_that_takes_a_second_for_a_solution() -> None:
    assert late(slow("keys", "batch", 1.0)) < LATE


SEARCHES: list[dict[str, Any]] = [
    *({"name": name} for name in ("swap", "two_opt", "reinsert")),
    {"name": "swap", "strategy": "best"},
    {"name": "swap", "scope": "position"},
    {"name": "tabu"},
]


# Generation 0 takes no time, and then a search begins.
@pytest.mark.parametrize("improver", SEARCHES, ids=lambda each: "-".join(each.values()))
@pytest.mark.parametrize("by", ["delta", "cost"])
def test_searches_with_evaluations_of_half_a_second(by: str, improver: dict[str, Any]) -> None:
    assert late(slow("permutation", by, 0.5, 30, quick=100), improver=improver) < LATE


# Generations without a search are so short that a step of many follows, which then search.
def test_searches_that_are_drawn_seldom() -> None:
    problem = slow("permutation", "delta", 0.02, 30)
    assert late(problem, improver={"name": "swap", "rate": 0.02}) < LATE


def test_evaluations_that_begin_to_take_long() -> None:
    assert late(slow("permutation", "cost", 0.02, quick=100_000)) < LATE
