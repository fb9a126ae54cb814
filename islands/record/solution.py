"""Write the solution of a finished run, and read its result again."""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.configuration.identity import identity
from islands.configuration.resolved import Resolved
from islands.errors import InputError
from islands.inside import inside
from islands.problems import PROBLEMS
from islands.problems.base import Problem
from islands.problems.mixed import MixedKind
from islands.progress.result import Result
from islands.record.folder import FINISHED, RUN_SETTINGS, has_checkpoint
from islands.record.parquet import read_parquet, write_parquet
from islands.record.records import array_of
from islands.untrusted import parsing, typed

_MOST_ENTRIES = 1 << 24
"""Of a solution; an instance has at most ten million cities."""
_TYPES = ("int8", "int32", "int64", "float", "double")
"""Of the entries, in Arrow's words."""
_RESULT, _SETTINGS = b"islands.result", b"islands.settings"
_DATE, _VERSIONS = b"islands.date", b"islands.versions"
_RUN, _START, _KIND = b"islands.run", b"islands.start", b"islands.parameters"


def write_solution(
    folder: Path, problem: Problem, result: Result, metadata: Mapping[str, str]
) -> None:
    """Write the solution in the format of its problem and as Parquet, which finishes the run."""
    import pyarrow as pa

    assert result.solution is not None, "a run without a solution is not finished"
    native = inside(folder, f"solution{problem.solution_suffix}")
    entries = problem.kind.array_of(result.solution)
    (units,) = problem.costs(entries[np.newaxis]).tolist()
    problem.write_solution(native, entries, units)
    solution = array_of(entries, pa.from_numpy_dtype(entries.dtype))
    own = {}
    if isinstance(problem.kind, MixedKind):
        own[_KIND.decode()] = json.dumps(problem.kind.own["parameters"])
    table = pa.table({"solution": solution}).replace_schema_metadata({**metadata, **own})
    write_parquet(inside(folder, FINISHED), [table], table.schema)


@dataclass(frozen=True)
class Finished:
    """The result of a finished run, with what identifies the run."""

    result: Result
    run: str
    """The identity of the run: see `islands.configuration.identity.identity`."""
    start: int
    """The number of the start that finished the run, whose records and checkpoints stay."""
    date: str
    """When the run was finished."""
    versions: Mapping[str, str]
    """The versions of Python and of the packages that made it."""

    def require_exact(self, resolved: Resolved) -> None:
        """Compute the cost again; refuse a result of another run, or a contradicted one."""
        result, path = self.result, Path(str(self.result.folder), FINISHED)
        assert result.solution is not None, "a finished run has a solution"
        if self.run != identity(resolved):
            raise InputError(
                f"{path}: belongs to another run than {RUN_SETTINGS}, or {result.instance} has"
                " changed since. Restore the changed file"
            )
        problem = resolved.problem
        exact = problem.cost(result.solution)
        if not problem.scale.agrees(exact, result.cost):
            word = problem.words.cost
            raise InputError(
                f"{path}: states {word} {result.cost}, but its solution has {word} {exact}."
                f" {_remedy(path.parent)}"
            )


def finished(folder: Path, *, goes_on: bool) -> Finished | None:
    """Return the result of a finished run, or None if it must be resumed.

    Refuse a run to be resumed, because it was interrupted or `goes_on`, without checkpoints.
    """
    if not (folder / FINISHED).exists():
        return None
    found = recorded(folder)
    if not (goes_on or found.result.interrupted):
        return found
    if not (found.result.reproducible and has_checkpoint(folder)):
        why = ""
        if not found.result.reproducible:
            why = "its ranks did not wait for each other (--async), so "
        raise InputError(
            f"{folder}: {why}there are no checkpoints to resume from. {_start_again(folder)}"
        )
    return None


def recorded(folder: Path) -> Finished:
    """Return the result of a finished run."""
    import pyarrow as pa

    path = folder / FINISHED
    columns = [pa.field("solution", kind) for kind in _TYPES]
    try:
        table = read_parquet(path, columns, _MOST_ENTRIES)
        with parsing(path):
            said = table.schema.metadata
            facts = json.loads(said[_RESULT])
            made = {
                "solution": _presented(table.column("solution").to_numpy(), said.get(_KIND)),
                "folder": str(folder),
                "stored_settings": tomllib.loads(said[_SETTINGS].decode()),
                "records": None,
                "write_error": "",
                "draw": None,
                "page": None,
                "colonies": facts["colonies"],
                "rank_seconds": [_seconds(each) for each in facts["rank_seconds"]],
            }
            result = typed(Result, facts, **made)
            versions = json.loads(said[_VERSIONS])
            return Finished(
                result,
                said[_RUN].decode(),
                int(said[_START]),
                said.get(_DATE, b"").decode(),
                {str(name): str(version) for name, version in versions.items()},
            )
    except InputError as error:
        raise InputError(f"{error}. {_remedy(folder)}") from error


def _presented(entries: NDArray[Any], parameters: bytes | None) -> Any:
    """Return a solution as users see it, whose parameters are stored if it has any."""
    if parameters is None:
        return entries
    return MixedKind(len(entries), parameters=json.loads(parameters)).presented(entries)


def _seconds(phases: Mapping[str, float]) -> dict[str, float]:
    return {str(name): float(seconds) for name, seconds in phases.items()}


def _remedy(folder: Path) -> str:
    """Return the fix for a damaged result."""
    if has_checkpoint(folder):
        return f"Remove {FINISHED} and use islands resume to continue from the last checkpoint"
    return _start_again(folder)


def _start_again(folder: Path) -> str:
    again = ["islands", "run", "--config", str(folder / RUN_SETTINGS)]
    for kind in PROBLEMS.values():
        native = folder / f"solution{kind.solution_suffix}"
        if native.exists():
            return f"Start from its solution with: {shlex.join([*again, '--start', str(native)])}"
    return f"Start again with: {shlex.join(again)}"
