"""Invented runs of `islands bench quality` and `islands bench gpus`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from islands.bench.gpus_rows import TARGET, GpuRunRow
from islands.bench.quality_runs import RunRow

LIMIT = 10.0
"""The time limit of these runs in seconds."""


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
        "limit": LIMIT,
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


def gpu_row(ranks: int, reached: float, **changes: Any) -> GpuRunRow:
    """Return a run that is at the best known value, 200, at a time, and 0.1 % above it sooner."""
    course = [(0.25 * reached, 202.0), (0.5 * reached, 200.2), (reached, 200.0)]
    values: dict[str, Any] = {
        "ranks": ranks,
        "course": course if np.isfinite(reached) else [(9.0, 300.0)],
        "seconds": min(reached, LIMIT + 0.1),
    }
    own: dict[str, Any] = {
        "purpose": TARGET,
        "settings": "s",
        "digest": "d",
        "team": ranks,
        "idle_ranks": 0,
        "exchange": 0.1,
        "migration": 0.0,
        "waiting": 0.2,
        "idle": 0.0,
        "start_seconds": 0.0,
        "start_evaluations": 0,
    }
    mine = {name: value for name, value in changes.items() if name in own}
    others = {name: value for name, value in changes.items() if name not in own}
    return GpuRunRow(**asdict(run_row(**(values | others))), **(own | mine))
