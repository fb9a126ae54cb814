"""Small runs from the command line, and what they write."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from islands.cli import main

SMALL = ["--population", "64", "--islands", "4", "--interval", "20", "--backend", "cpu"]
SMALL += ["--improver", "none"]
REPEATED = ["island", "generation", "best", "mean", "worst", "best_generation", "evaluations"]
"""The columns of the trace that are the same whenever the run is: all but time."""


def solved(
    capsys: pytest.CaptureFixture[str], *options: str, line: Sequence[str] = SMALL
) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["run", "demo/tsp", *line, *options, "--json"]) == 0
    return dict(json.loads(capsys.readouterr().out))


def traced(folder: Path | str) -> list[tuple[Any, ...]]:
    """Return the rows of all ranks, in the order of a single rank."""
    tables = [pq.read_table(path) for path in sorted(Path(folder, "trace").glob("*.parquet"))]
    table = pa.concat_tables([table.replace_schema_metadata() for table in tables])
    table = table.sort_by([("generation", "ascending"), ("island", "ascending")])
    return list(zip(*(table.column(name).to_pylist() for name in REPEATED), strict=True))


def wait_for(path: Path) -> None:
    """Wait until a run has created `path`, and a few epochs more."""
    for _ in range(600):
        if path.exists() and path.stat().st_size > 0:
            time.sleep(0.5)
            return
        time.sleep(0.05)
    pytest.fail(f"{path} did not appear")
