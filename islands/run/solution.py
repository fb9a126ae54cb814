"""The solution that a finished run leaves, and the result that is read from it again."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from islands.errors import InputError
from islands.paths import published, reading
from islands.problems import PROBLEMS
from islands.problems.base import Problem
from islands.run.folder import FINISHED, SETTINGS
from islands.run.result import Result

_RESULT = b"islands.result"


def write_solution(
    folder: Path, problem: Problem, result: Result, metadata: Mapping[str, str]
) -> None:
    """Write the solution in the format of its kind and as a table: this ends the folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    assert result.solution is not None, "a run without a solution is not finished"
    native = folder / f"solution{problem.solution_suffix}"
    (units,) = problem.costs(result.solution[np.newaxis]).tolist()
    problem.write_solution(native, result.solution, units)
    table = pa.table({"solution": result.solution}).replace_schema_metadata(dict(metadata))
    # An open file, since Arrow takes no path that is not UTF-8.
    with published(folder / FINISHED) as temporary, temporary.open("wb") as stream:
        pq.write_table(table, stream)


def finished(folder: Path, *, goes_on: bool) -> Result | None:
    """Return the result of a run that has ended by itself and is not to go on, or None.

    Refuse one that is to go on, or was interrupted, but has written no checkpoints.
    """
    if not (folder / FINISHED).exists():
        return None
    result = recorded(folder)
    if not (goes_on or result.interrupted):
        return result
    if not result.reproducible:
        native = folder / f"solution{PROBLEMS[result.problem].solution_suffix}"
        again = ["islands", "run", "--config", str(folder / SETTINGS), "--start", str(native)]
        raise InputError(
            f"{folder}: its ranks did not wait for each other (--async), so that there are no"
            f" checkpoints to go on from. Begin from its solution with: {shlex.join(again)}"
        )
    return None


def recorded(folder: Path) -> Result:
    """Return the result that a finished run has left."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / FINISHED
    try:
        with reading(path), path.open("rb") as stream:
            table = pq.read_table(stream)
        facts = json.loads(table.schema.metadata[_RESULT])
        result = Result(solution=table.column("solution").to_numpy(), **facts)
    except (pa.ArrowInvalid, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: is no solution of a run: {error}. Remove it to go on") from error
    return dataclasses.replace(result, folder=str(folder))
