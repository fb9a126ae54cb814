"""Results that are made up."""

from __future__ import annotations

from typing import Any

import numpy as np

from islands.run.result import Result


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
        "road": "device",
        "digest": "ab",
        "folder": "runs/a",
    }
    return Result(**{**values, **changes})
