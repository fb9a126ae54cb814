"""What a run writes into its folder besides its log and its checkpoints."""

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
    """Return the kinds of records that a run writes."""
    return [Trace, Migrations] if spec.record.migrations else [Trace]


class Recorder:
    """Writes one rank's part of a run's folder; rank 0 writes what there is once."""

    def __init__(
        self,
        folder: Path,
        spec: RunSpec,
        problem: Problem,
        rank: int,
        start: int,
        earlier: Mapping[str, pa.Table],
    ) -> None:
        """Open the records of this start of the run, which begin with `earlier` rows."""
        self._folder, self._spec, self._problem, self._start = folder, spec, problem, start
        self._records = [kind(folder, rank, start, problem) for kind in records(spec)]
        for record in self._records:
            if record.folder in earlier:
                record.begin_with(earlier[record.folder])

    def epoch(self, epoch: Epoch) -> None:
        """Add what this rank knows of an epoch."""
        for record in self._records:
            record.add(epoch)

    def extents(self) -> dict[str, Extent]:
        """Return how far each record goes, having secured it."""
        return {record.folder: record.kept() for record in self._records}

    def publish(self, result: Result) -> None:
        """Write this rank's records as they stay."""
        for record in self._records:
            record.publish(_metadata(self._spec, result))

    def finish(self, result: Result) -> None:
        """Write the solution, on rank 0, when every rank's records are there: this ends the run."""
        for name in (TRACE, MIGRATIONS):
            for path in (self._folder / name).glob("rank-*.parquet"):
                match = re.fullmatch(r"rank-(\d+)\.parquet", path.name)
                # An earlier start of the run may have had more ranks.
                if match is not None and int(match[1]) >= result.ranks:
                    path.unlink(missing_ok=True)
        said = _metadata(self._spec, result)
        write_solution(self._folder, self._spec, self._problem, result, self._start, said)


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
