"""Write the solution of a finished run, and read its result."""

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
from islands.record.folder import FINISHED, RUN_SETTINGS, has_checkpoint, how_to_repeat
from islands.record.parquet import read_parquet, write_parquet
from islands.record.records import array_of
from islands.untrusted import parsing, typed

_MOST_ENTRIES = 1 << 24
"""The maximum length of a solution; an instance has at most ten million cities."""
_TYPES = ("int8", "int32", "int64", "float", "double")
"""The Arrow types of solutions."""
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
    if isinstance(problem.kind, MixedKind):
        metadata = {**metadata, _KIND.decode(): json.dumps(problem.kind.options["parameters"])}
    table = pa.table({"solution": solution}).replace_schema_metadata(dict(metadata))
    write_parquet(inside(folder, FINISHED), [table], table.schema)


@dataclass(frozen=True)
class Finished:
    """The result of a finished run, with its identity and origin."""

    result: Result
    run: str
    """The identity of the run: see `islands.configuration.identity.identity`."""
    start: int
    """The number of the start that finished the run; its records and checkpoints are kept."""
    date: str
    """When the run was finished."""
    versions: Mapping[str, str]
    """The versions of Python and of the packages that the run used."""

    def require_exact(self, resolved: Resolved) -> None:
        """Reject a result of another run, or a result whose cost is not that of its solution."""
        result, path = self.result, Path(str(self.result.folder), FINISHED)
        assert result.solution is not None, "a finished run has a solution"
        if self.run != identity(resolved):
            raise InputError(
                f"{path}: belongs to another run, not to that of {RUN_SETTINGS}, or"
                f" {result.instance} has changed since. Restore the changed file"
            )
        problem = resolved.problem
        exact = problem.cost(result.solution)
        if not problem.scale.agrees(exact, result.cost):
            word = problem.words.cost
            raise InputError(
                f"{path}: states {word} {result.cost}, but its solution has {word} {exact}."
                f" {_remedy(path.parent)}"
            )


def finished(folder: Path, *, continues: bool) -> Finished | None:
    """Return the result of a finished run, or None if the run is to be resumed.

    An unfinished or interrupted run is resumed, and so is a finished run that `continues`, for
    example with later stopping criteria. Reject such a run if it has no checkpoint.
    """
    if not (folder / FINISHED).exists():
        return None
    record = recorded(folder)
    if not (continues or record.result.interrupted):
        return record
    if not (record.result.reproducible and has_checkpoint(folder)):
        why = ""
        if not record.result.reproducible:
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
            metadata = table.schema.metadata
            facts = json.loads(metadata[_RESULT])
            versions = json.loads(metadata[_VERSIONS])
            result = typed(
                Result,
                facts,
                solution=_presented(table.column("solution").to_numpy(), metadata.get(_KIND)),
                folder=str(folder),
                stored_settings=tomllib.loads(metadata[_SETTINGS].decode()),
                records=None,
                write_error="",
                draw=None,
                page=None,
                colonies=facts["colonies"],
                rank_seconds=[
                    {str(phase): float(seconds) for phase, seconds in phases.items()}
                    for phases in facts["rank_seconds"]
                ],
            )
            return Finished(
                result,
                run=metadata[_RUN].decode(),
                start=int(metadata[_START]),
                date=metadata.get(_DATE, b"").decode(),
                versions={str(name): str(version) for name, version in versions.items()},
            )
    except InputError as error:
        raise InputError(f"{error}. {_remedy(folder)}") from error


def _presented(entries: NDArray[Any], parameters: bytes | None) -> Any:
    """Return a solution as users see it; `parameters` are those of a mixed solution."""
    if parameters is None:
        return entries
    return MixedKind(len(entries), parameters=json.loads(parameters)).presented(entries)


def _remedy(folder: Path) -> str:
    """Return the fix for a damaged result."""
    if has_checkpoint(folder):
        return f"Remove {FINISHED} and use islands resume to continue from the last checkpoint"
    return _start_again(folder)


def _start_again(folder: Path) -> str:
    for kind in PROBLEMS.values():
        native = folder / f"solution{kind.solution_suffix}"
        if native.exists():
            start = f"{how_to_repeat(folder)} --start {shlex.quote(str(native))}"
            return f"Start from its solution with: {start}"
    return f"Start again with: {how_to_repeat(folder)}"
