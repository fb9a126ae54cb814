"""Write the records and the solution of a run."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.progress.result import Result
from islands.record.folder import MIGRATIONS, TRACE
from islands.record.migrations import Migrations
from islands.record.record import Record
from islands.record.solution import write_solution
from islands.record.stream import Extent
from islands.record.trace import Trace
from islands.spec.spec import RunSpec

if TYPE_CHECKING:
    import pyarrow as pa


def records(spec: RunSpec) -> list[type[Record]]:
    """Return the record classes that a run uses."""
    return [Trace, Migrations] if spec.record.migrations else [Trace]


class Recorder:
    """Writes one rank's records; rank 0 also writes the solution."""

    def __init__(
        self,
        folder: Path,
        spec: RunSpec,
        problem: Problem,
        rank: int,
        start: int,
        earlier: Mapping[str, pa.Table],
    ) -> None:
        """Open the records of this start, beginning with `earlier` rows."""
        self._folder, self._spec, self._problem, self._start = folder, spec, problem, start
        self._records = [kind(folder, rank, start, problem) for kind in records(spec)]
        for record in self._records:
            if record.folder in earlier:
                record.begin_with(earlier[record.folder])

    def epoch(self, epoch: Epoch) -> None:
        """Add this rank's data of an epoch."""
        for record in self._records:
            record.add(epoch)

    def extents(self) -> dict[str, Extent]:
        """Write each record to disk and return the extents."""
        return {record.folder: record.kept() for record in self._records}

    def publish(self, result: Result) -> None:
        """Write the final Parquet files of this rank."""
        for record in self._records:
            record.publish(_metadata(self._spec, result))

    def finish(self, result: Result) -> None:
        """Write the solution on rank 0, after all ranks' records: this finishes the run."""
        for name in (TRACE, MIGRATIONS):
            for path in (self._folder / name).glob("rank-*.parquet"):
                match = re.fullmatch(r"rank-(\d+)\.parquet", path.name)
                # An earlier start of the run may have had more ranks.
                if match is not None and int(match[1]) >= result.ranks:
                    path.unlink(missing_ok=True)
        said = _metadata(self._spec, result)
        write_solution(self._folder, self._spec, self._problem, result, self._start, said)


def _metadata(spec: RunSpec, result: Result) -> dict[str, str]:
    """Return the metadata of each Parquet file; all keys begin with `islands.`."""
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
