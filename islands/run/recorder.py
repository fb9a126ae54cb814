"""What a run writes into its folder besides its log: run.toml, the trace, the solution."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from islands.paths import published
from islands.problems.base import Problem
from islands.run.epochs import Epoch
from islands.run.folder import FINISHED, SETTINGS
from islands.run.result import Result
from islands.run.spec import RunSpec
from islands.run.trace import Trace


class Recorder:
    """Writes one rank's part of a run's folder; rank 0 writes what there is once."""

    def __init__(self, folder: Path, spec: RunSpec, problem: Problem, rank: int) -> None:
        self._folder = folder
        self._spec = spec
        self._problem = problem
        self._speaks = rank == 0
        if self._speaks:
            with published(folder / SETTINGS) as temporary:
                temporary.write_text(spec.to_toml(), encoding="utf-8")
        self._trace = Trace(folder, rank, maximise=problem.maximise)

    def epoch(self, epoch: Epoch) -> None:
        """Add this rank's islands to the trace."""
        self._trace.add(epoch)

    def finish_trace(self, result: Result) -> None:
        """Write this rank's trace as it stays."""
        self._trace.finish(_metadata(self._spec, result))

    def finish(self, result: Result) -> None:
        """Write the solution, on rank 0, when every rank's trace is there: this ends the folder."""
        if self._speaks:
            native = self._folder / f"solution{self._problem.solution_suffix}"
            self._problem.write_solution(native, result.solution, result.cost)
            _write_solution(self._folder / FINISHED, result, _metadata(self._spec, result))


def _write_solution(path: Path, result: Result, metadata: dict[str, str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"solution": result.solution}).replace_schema_metadata(metadata)
    # An open file, since Arrow takes no path that is not UTF-8.
    with published(path) as temporary, temporary.open("wb") as stream:
        pq.write_table(table, stream)


def _metadata(spec: RunSpec, result: Result) -> dict[str, str]:
    """Return what each Parquet file says about its run, under keys that begin with `islands.`."""
    facts = result.to_mapping()
    del facts["solution"]
    return {
        "islands.settings": spec.to_toml(),
        "islands.result": json.dumps(facts),
        "islands.versions": json.dumps(_versions()),
        "islands.device": result.device,
        "islands.seed": str(result.seed),
        "islands.digest": result.digest,
        "islands.reason": result.reason,
    }


def _versions() -> dict[str, str]:
    import islands

    versions = {"islands": islands.__version__, "python": platform.python_version()}
    for package in ("numpy", "pyarrow", "mpi4py", "cupy-cuda13x", "cupy-cuda12x"):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
