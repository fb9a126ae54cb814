"""pandas and Polars DataFrames: sort places along a short tour, and schedule job shops.

    islands.frames.tour(places)         # columns x and y; the rows in the order of a tour
    islands.frames.schedule(orders)     # columns job, machine and time; begin and end are added

Frames are recognised by their methods: neither library is imported.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import islands
from islands.calls import seconds_of
from islands.shops import Jobs, Mode

_ADDED = ("begin", "end")


def tour(frame: Any, x: Any = "x", y: Any = "y", *, time_limit: float = 1.0, seed: int = 1) -> Any:
    """Return the rows of a frame in the order of a short tour of their places.

    `x` and `y` are the columns of the coordinates.
    """
    _require(frame, time_limit)
    columns = [_numbers(frame, name) for name in (x, y)]
    if len(frame) < 4:
        return frame
    problem = islands.tsp(np.column_stack(columns))
    stop = ["converged", f"seconds={time_limit}"]
    order: Any = islands.solve(problem, stop=stop, seed=seed, record={"every": 1}).solution
    rows = getattr(frame, "iloc", frame)  # pandas selects rows by position with `iloc`
    return rows[[*map(int, order)]]


def schedule(
    frame: Any,
    job: Any = "job",
    machine: Any = "machine",
    time: Any = "time",
    *,
    time_limit: float = 1.0,
    seed: int = 1,
) -> Any:
    """Return the frame with added columns `begin` and `end`: a short schedule of its operations.

    Each row is an operation of a `job` on a `machine`; its duration `time` is a whole number. The
    operations of a job follow one another in the order of their rows.
    """
    _require(frame, time_limit)
    for name in _ADDED:
        if name in [*frame.columns]:
            raise ValueError(f"the frame already has a column {name!r}. Rename it")
    lengths = _numbers(frame, time)
    if (lengths != np.rint(lengths)).any() or (lengths < 0).any():
        raise ValueError(f"column {time!r}: must contain whole numbers of at least 0")
    jobs, machines = _numbered(frame, job), _numbered(frame, machine)
    rows: list[list[int]] = [[] for _ in range(max(jobs, default=-1) + 1)]
    for row, number in enumerate(jobs):
        rows[number].append(row)
    if not rows:
        raise ValueError("the frame has no rows")
    modes = [[[Mode(machines[row], int(lengths[row]))] for row in job_rows] for job_rows in rows]
    begin, end = np.zeros((2, len(jobs)), np.int64)
    scheduled, *_ = Jobs(modes, [0] * len(rows)).schedule(float(time_limit), seed)
    for operation in scheduled:
        row = rows[operation.job][operation.operation]
        begin[row], end[row] = operation.begin, operation.end
    if hasattr(frame, "assign"):
        return frame.assign(begin=begin, end=end)
    series = type(frame[job])
    return frame.with_columns(series("begin", begin), series("end", end))


def _require(frame: Any, time_limit: Any) -> None:
    """Reject an invalid frame or limit."""
    if not hasattr(frame, "columns") or not hasattr(frame, "__len__"):
        raise TypeError(f"frame: {type(frame).__name__} is not a DataFrame of pandas or Polars")
    seconds_of(time_limit)


def _column(frame: Any, name: Any) -> list[Any]:
    """Return the entries of a column; reject missing ones."""
    names = [*frame.columns]
    if name not in names:
        known = ", ".join(map(str, names))
        raise ValueError(f"the frame has no column {name!r}. Its columns: {known}")
    if names.count(name) > 1:
        raise ValueError(f"the frame has {names.count(name)} columns {name!r}. Rename all but one")
    entries: list[Any] = frame[name].to_list()
    for row, entry in enumerate(entries):
        if _is_missing(entry):
            raise ValueError(f"column {name!r}, row {row}: has no value. Fill it, or drop the row")
    return entries


def _is_missing(entry: Any) -> bool:
    """Return whether an entry is None, NaN, or the pandas NA or NaT."""
    try:
        return entry is None or bool(entry != entry)
    except TypeError:
        return True  # a comparison with NA has no truth value


def _numbers(frame: Any, name: Any) -> NDArray[np.float64]:
    """Return a column as finite numbers."""
    entries = _column(frame, name)
    try:
        numbers = np.array([*map(float, entries)])
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if len(numbers) < len(entries) or any(isinstance(entry, str) for entry in entries):
        raise ValueError(f"column {name!r}: must contain numbers")
    if not np.isfinite(numbers).all():
        row = int((~np.isfinite(numbers)).argmax())
        raise ValueError(f"column {name!r}, row {row}: is {numbers[row]}, not a finite number")
    return numbers


def _numbered(frame: Any, name: Any) -> Sequence[int]:
    """Return a number from 0 for each entry of a column; equal entries have equal numbers."""
    numbers: dict[Any, int] = {}
    return [numbers.setdefault(entry, len(numbers)) for entry in _column(frame, name)]
