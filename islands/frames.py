"""Frames of pandas and Polars: tours of places, and schedules of job shops.

    islands.frames.tour(places)         # columns x and y; the rows in the order of a tour
    islands.frames.schedule(orders)     # columns job, machine and time; begin and end are added

Both libraries are known by what their frames can do, and neither is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import islands
from islands.shops import Choice, Shop


def tour(frame: Any, x: str = "x", y: str = "y", *, time_limit: float = 1.0, seed: int = 1) -> Any:
    """Return the rows of a frame in the order of a short tour of their places.

    `x` and `y` are the columns of the coordinates.
    """
    columns = [_numbers(frame, name) for name in (x, y)]
    if len(frame) < 4:
        return frame
    problem = islands.tsp(np.column_stack(columns))
    stop = ["converged", f"seconds={time_limit}"]
    order: Any = islands.solve(problem, stop=stop, seed=seed, record={"every": 1}).solution
    rows = getattr(frame, "iloc", frame)  # pandas has the rows by place there
    return rows[[*map(int, order)]]


def schedule(
    frame: Any,
    job: str = "job",
    machine: str = "machine",
    time: str = "time",
    *,
    time_limit: float = 1.0,
    seed: int = 1,
) -> Any:
    """Return a frame with the columns `begin` and `end` of a short schedule of its operations.

    Each row is an operation: of a `job`, whose operations are done in the order of their rows, on a
    `machine`, for a whole number of units of `time`.
    """
    lengths = _numbers(frame, time)
    if (lengths != np.rint(lengths)).any() or (lengths < 0).any():
        raise ValueError(f"column {time!r}: must have whole numbers of at least 0")
    places, machines = _places(frame, job), _places(frame, machine)
    rows: list[list[int]] = [[] for _ in range(max(places, default=-1) + 1)]
    for row, number in enumerate(places):
        rows[number].append(row)
    if not rows:
        raise ValueError("the frame has no rows")
    jobs = [[[Choice(machines[row], int(lengths[row]))] for row in some] for some in rows]
    begin, end = np.zeros((2, len(places)), np.int64)
    for step in Shop(jobs, [0] * len(jobs)).solved(time_limit, seed):
        row = rows[step.job][step.operation]
        begin[row], end[row] = step.begin, step.end
    if hasattr(frame, "assign"):
        return frame.assign(begin=begin, end=end)
    series = type(frame[job])
    return frame.with_columns(series("begin", begin), series("end", end))


def _column(frame: Any, name: str) -> Any:
    names = [*map(str, frame.columns)]
    if name not in names:
        raise ValueError(f"the frame has no column {name!r}. Its columns: {', '.join(names)}")
    return frame[name]


def _numbers(frame: Any, name: str) -> Any:
    """Return a column as numbers; refuse missing ones."""
    try:
        found = np.asarray(_column(frame, name).to_numpy(), float)
    except (TypeError, ValueError) as error:
        if "no column" in str(error):
            raise
        raise ValueError(f"column {name!r}: must have numbers") from None
    if not np.isfinite(found).all():
        row = int((~np.isfinite(found)).argmax())
        raise ValueError(f"column {name!r}, row {row}: is {found[row]}, not a finite number")
    return found


def _places(frame: Any, name: str) -> Sequence[int]:
    """Return a number for each entry of a column, from 0, equal ones for equal entries."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(each, len(numbers)) for each in _column(frame, name).to_list()]
