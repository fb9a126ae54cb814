"""Runs of fake islands, complete and resumed."""

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from fakes import FakeArchipelago, FakeProblem

from islands.archipelago.measure import Candidate
from islands.configuration.request import Request
from islands.engine import loading
from islands.engine.runner import resume_requested, run_requested
from islands.engine.single import Output
from islands.parallel import World
from islands.record.parquet import read_parquet, write_parquet


class Honest(FakeArchipelago):
    """Fake islands whose best cost is exact."""

    def measure(self) -> list[Any]:
        return [
            m._replace(best=100 + m.island, best_generation=self.generation)
            for m in super().measure()
        ]

    def best(self) -> Candidate:
        order = np.arange(5, dtype=np.int64)
        return Candidate(100, 0, order, order)


def solved(folder: Path | None, problem: FakeProblem | None = None, **options: Any) -> Any:
    output = Output(writes=folder is not None, folder=folder, stream=StringIO())
    options = {"backend": "cpu", "stop": "generations=100", **options}
    return run_requested(Request.of(options), World(), output, problem or FakeProblem())


def resumed(folder: Path, world: World | None = None, **options: Any) -> Any:
    output = Output(writes=True, folder=folder, stream=StringIO())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loading, "loaded", lambda *_: FakeProblem())
        return resume_requested(folder, Request.of(options), world or World(), output)


def change_metadata(folder: Path, key: bytes, change: Callable[[bytes], bytes]) -> Path:
    """Change a value in the metadata of a solution; return its path."""
    path = folder / "solution.parquet"
    table = read_parquet(path, [*pq.read_schema(path)])
    metadata = table.schema.metadata
    table = table.replace_schema_metadata(metadata | {key: change(metadata[key])})
    write_parquet(path, [table], table.schema)
    return path


def change_result(folder: Path, **values: object) -> Path:
    return change_metadata(
        folder, b"islands.result", lambda facts: json.dumps(json.loads(facts) | values).encode()
    )
