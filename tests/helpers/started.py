"""Starts of a run of fake islands, on ranks that are threads, which die where they are told to."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fakes import DeadError, FakeArchipelago, FakeProblem, Quiet
from ranks_for_tests import on_ranks

from islands.parallel import World, deal
from islands.problems.base import Solution
from islands.progress.machine import Machine
from islands.progress.result import Result
from islands.run.start import Start, perform
from islands.spec.resolve import layers, resolve

ISLANDS = 6
DIFFERING = {"seconds", "microseconds", "transport"}
"""The columns that depend on where and when a run takes place."""


class AnyOrder(FakeProblem):
    """Takes every solution that fake islands have."""

    def check(self, solution: Solution) -> None:
        assert len(solution) == 5


def start(
    folder: Path,
    ranks: int = 1,
    *,
    goes_on: bool = True,
    dies_at: int | None = None,
    interruption: Any = Quiet,
    kind: type[FakeArchipelago] = FakeArchipelago,
    **options: Any,
) -> tuple[Result, str]:
    """Make one start on so many ranks, and return its result and what it said."""
    asked = {"islands": ISLANDS, "interval": 16, "record.every": 10, "checkpoint.every": "1e-9"}
    asked |= {"stop": "generations=100", "backend": "cpu", "population": 256}
    stream = StringIO()

    def one(world: World) -> Result:
        problem = AnyOrder()
        mine = deal(ISLANDS, world.size, world.rank)
        archipelago = kind(mine, dies_at)
        begun = Start(
            resolve(layers(asked | options), problem),
            problem,
            world,
            archipelago,  # type: ignore[arg-type]
            Machine(world.size, "cpu", "CPU", "asked for", "staged", 0.0),
            "CPU",
            folder,
            goes_on,
        )
        return perform(begun, interruption, stream, quiet=False)

    return on_ranks(ranks, one)[0], stream.getvalue()


def killed(folder: Path, ranks: int = 1, *, at: int, **options: Any) -> None:
    """Make a start that is killed when it reaches a generation."""
    try:
        start(folder, ranks, dies_at=at, **options)
    except DeadError:
        return
    raise AssertionError(f"it was to die at generation {at}")


def whole(folder: Path, ranks: int, **options: Any) -> Path:
    """Return the folder of an uninterrupted run."""
    folder.mkdir(parents=True)
    start(folder, ranks, goes_on=False, **options)
    return folder


def record(folder: Path, name: str) -> dict[str, pa.Table]:
    """Return what every rank has recorded, but for what depends on where and when."""
    found = {}
    for path in sorted((folder / name).iterdir()):
        table = pq.read_table(path)
        kept = [column for column in table.column_names if column not in DIFFERING]
        found[path.name] = table.select(kept).replace_schema_metadata(None)
    return found


def require_same(folder: Path, other: Path) -> None:
    """Compare all that two runs have left, but for what depends on where and when."""
    for name in ("trace", "migrations"):
        assert record(folder, name) == record(other, name)
    for key in ("cost", "island", "best_generation", "generations", "evaluations", "reason"):
        assert facts(folder)[key] == facts(other)[key]


def facts(folder: Path) -> dict[str, Any]:
    """Return what the solution says of its run."""
    metadata = pq.read_schema(folder / "solution.parquet").metadata
    return dict(json.loads(metadata[b"islands.result"]))


def checkpoints(folder: Path) -> list[str]:
    """Return the names of the checkpoints that count."""
    return sorted(path.parent.name for path in folder.glob("checkpoints/*/manifest.json"))


def streams(folder: Path, name: str = "trace") -> list[str]:
    """Return the names of the records that are not finished."""
    return sorted(path.name for path in folder.glob(f"{name}/*.arrows"))
