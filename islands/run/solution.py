"""The solution that a finished run leaves, and the result that is read from it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from islands.errors import InputError, RunError
from islands.problems import PROBLEMS
from islands.problems.base import Problem
from islands.run.folder import FINISHED, SETTINGS
from islands.run.parquet import read_parquet, write_parquet
from islands.run.result import Result
from islands.run.typed import typed
from islands.untrusted import parsing

_RESULT = b"islands.result"
_REMOVE = "Remove it, and islands resume goes on from the last checkpoint"


def write_solution(
    folder: Path, problem: Problem, result: Result, metadata: Mapping[str, str]
) -> None:
    """Write the solution in the format of its kind and as a table: this ends the folder."""
    import pyarrow as pa

    assert result.solution is not None, "a run without a solution is not finished"
    native = folder / f"solution{problem.solution_suffix}"
    (units,) = problem.costs(result.solution[np.newaxis]).tolist()
    problem.write_solution(native, result.solution, units)
    table = pa.table({"solution": result.solution}).replace_schema_metadata(dict(metadata))
    write_parquet(folder / FINISHED, [table], table.schema)


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
    path = folder / FINISHED
    try:
        table = read_parquet(path)
        with parsing(path):
            facts = json.loads(table.schema.metadata[_RESULT])
            solution = table.column("solution").to_numpy()
            return typed(Result, facts, solution=solution, folder=str(folder))
    except InputError as error:
        raise InputError(f"{error}. {_REMOVE}") from error


def require_exact(result: Result, problem: Problem) -> None:
    """Refuse a result that was read, but whose solution has another cost."""
    assert result.solution is not None, "a finished run has a solution"
    path = Path(str(result.folder), FINISHED)
    try:
        exact = problem.cost(result.solution)
    except RunError as error:
        raise InputError(f"{path}: its solution is infeasible: {error}. {_REMOVE}") from error
    if exact != result.cost:
        word = problem.cost_word
        raise InputError(
            f"{path}: says {word} {result.cost}, but its solution has {word} {exact}. {_REMOVE}"
        )
