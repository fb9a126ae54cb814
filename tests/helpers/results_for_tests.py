"""Results that are made up."""

from __future__ import annotations

from typing import Any

import numpy as np

from islands.progress.result import Result
from islands.series.summary import Summary

SECONDS = (1.0, 2.0, 4.0, 8.0, 16.0)


def result(**changes: Any) -> Result:
    """Return the result of a run, but for the `changes`."""
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
    """Return what runs of these costs come to."""
    sign = -1 if maximise else 1
    gaps = [None if not known else sign * 100 * (cost - known) / known for cost in costs]
    runs = [
        result(cost=cost, gap=gap, best_known=known, seconds=seconds, evaluations=cost, **facts)
        for cost, gap, seconds in zip(costs, gaps, SECONDS, strict=False)
    ]
    return Summary.of(runs, maximise=maximise)
