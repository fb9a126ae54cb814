"""Invented runs of `islands bench quality`."""

from __future__ import annotations

from typing import Any

from islands.bench.quality_runs import RunRow


def run_row(**changes: Any) -> RunRow:
    """Return a run that ends with `cost`, or with the last cost of its `course`."""
    values: dict[str, Any] = {
        "instance": "fake/five",
        "group": "fake",
        "size": 5,
        "constraints": None,
        "maximise": False,
        "reference": 200,
        "is_known": True,
        "backend": "cpu",
        "method": "default",
        "device": "CPU, 1 thread",
        "ranks": 1,
        "algorithm": "ga",
        "islands": 8,
        "population": 256,
        "seed": 1,
        "limit": 10.0,
        "cost": 210,
        "seconds": 10.0,
        "other_seconds": 0.1,
        "generations": 100,
        "evaluations": 5000,
        "proved": False,
        "course": None,
    }
    values |= changes
    if values["course"]:
        values["cost"] = values["course"][-1][1]
    elif values["course"] is None:
        cost = values["cost"]
        values["course"] = () if cost is None else ((values["seconds"], cost),)
    return RunRow(**values)
