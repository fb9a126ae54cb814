"""Invented results, and costs near best known values."""

from __future__ import annotations

from typing import Any

import numpy as np

from islands.campaign.summary import Summary
from islands.progress.result import Result

SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0)

NEAR_BEST_KNOWN = [
    (200, 201, False),
    (200, 199, True),
    (2**60, 2**60 + 1, False),
    (2**60, 2**60 - 1, True),
    (0.3, 0.300000001, False),
    (95168.5, 95168.499999999, True),
]
"""A best known value, a cost that just misses it, and whether the problem is maximised."""


def result(**changes: Any) -> Result:
    """Return the result of a run with `changes`."""
    values: dict[str, Any] = {
        "instance": "fake/five",
        "problem": "tsp",
        "algorithm": "brkga",
        "encoding": "keys",
        "preset": None,
        "cost": 210,
        "best_known": 200,
        "gap": 5.0,
        "island": 3,
        "solution": np.array([2, 0, 1]),
        "best_generation": 90,
        "generations": 100,
        "evaluations": 5000,
        "seconds": 1.25,
        "compile_seconds": 0.5,
        "reason": "done",
        "interrupted": False,
        "suspended": False,
        "reproducible": True,
        "seed": 1,
        "ranks": 1,
        "islands": 8,
        "population": 256,
        "backend": "cpu",
        "device": "CPU",
        "transport": "device",
        "digest": "ab",
        "folder": "runs/a",
    }
    return Result(**{**values, **changes})


def summary(*costs: int, known: int | None = 200, maximise: bool = False, **facts: Any) -> Summary:
    """Return the summary of runs that found these costs."""
    sign = -1 if maximise else 1
    gaps = [None if not known else sign * 100 * (cost - known) / known for cost in costs]
    runs = [
        result(cost=cost, gap=gap, best_known=known, seconds=seconds, evaluations=cost, **facts)
        for cost, gap, seconds in zip(costs, gaps, SECONDS, strict=False)
    ]
    return Summary.of(runs, maximise=maximise)
