"""Starts of runs of fake islands on ranks that are threads and can die at a given generation."""

import json
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from fakes import DeadError, FakeArchipelago, FakeProblem, Quiet
from numpy.typing import NDArray

from islands.archipelago.archipelago import Archipelago
from islands.archipelago.measure import ISLAND
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.single import Output, PreparedRun
from islands.parallel import Deal, World
from islands.problems.base import Solution
from islands.progress.result import Result
from islands.progress.usage import Machine
from islands.testing.ranks import on_ranks
from islands.untrusted import content_digest

ISLANDS = 6
DIFFERING = {"seconds", "microseconds", "transport"}
"""The columns that depend on time and machine."""


class AnyOrder(FakeProblem):
    """A fake problem that accepts every solution of fake islands."""

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
    """Start a run on `ranks` ranks; return its result and its output."""
    request = {"islands": ISLANDS, "interval": 16, "record.every": 10, "checkpoint.every": "1e-9"}
    request |= {"stop": "generations=100", "backend": "cpu", "population": 256}
    stream = StringIO()

    def one(world: World) -> Result:
        mine = Deal(ISLANDS, world.size).held(world.rank)
        archipelago = kind(mine, dies_at)
        begun = PreparedRun(
            resolve(Request.of(request | options), AnyOrder()),
            world,
            archipelago,
            Machine(world.size, "cpu", "CPU", "requested", "staged", 0.0, compiles=False),
            interruption,
            Output(stream=stream),
            folder,
            goes_on,
        )
        return begun.perform()

    return on_ranks(ranks, one)[0], stream.getvalue()


def killed(folder: Path, ranks: int = 1, *, at: int, **options: Any) -> None:
    try:
        start(folder, ranks, dies_at=at, **options)
    except DeadError:
        return
    raise AssertionError(f"it did not die at generation {at}")


def whole(folder: Path, ranks: int, **options: Any) -> Path:
    """Return the folder of an uninterrupted run."""
    folder.mkdir(parents=True)
    start(folder, ranks, goes_on=False, **options)
    return folder


def record(folder: Path, name: str) -> dict[str, pa.Table]:
    """Return the records of all ranks, without the columns in `DIFFERING`."""
    found = {}
    for path in sorted((folder / name).iterdir()):
        table = pq.read_table(path)
        kept = [column for column in table.column_names if column not in DIFFERING]
        found[path.name] = table.select(kept).replace_schema_metadata(None)
    return found


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return the records of all ranks, in the order of a single rank."""
    order = [("generation", "ascending"), ("island" if name == "trace" else "to", "ascending")]
    return list(pa.concat_tables(record(folder, name).values()).sort_by(order).to_pylist())


def require_same(folder: Path, other: Path) -> None:
    """Require that two runs have equal records and results."""
    for name in ("trace", "migrations"):
        assert record(folder, name) == record(other, name)
    for key in ("cost", "island", "best_generation", "generations", "evaluations", "reason"):
        assert facts(folder)[key] == facts(other)[key]


def facts(folder: Path) -> dict[str, Any]:
    """Return the result in the metadata of the solution."""
    metadata = pq.read_schema(folder / "solution.parquet").metadata
    return dict(json.loads(metadata[b"islands.result"]))


def checkpoints(folder: Path) -> list[str]:
    """Return the names of the complete checkpoints."""
    return sorted(path.parent.name for path in folder.glob("checkpoints/*/manifest.json"))


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the values of a manifest, and update its checksum."""
    values = json.loads(path.read_text())
    del values["sha256"]
    change(values)
    path.write_text(json.dumps(values | {"sha256": content_digest(values)}))


def streams(folder: Path, name: str = "trace") -> list[str]:
    """Return the names of the unfinished records."""
    return sorted(path.name for path in folder.glob(f"{name}/*.arrows"))


_COUNTED = [ISLAND.index(name) for name in ISLAND if name.endswith("generation")]

FAR = 2**32
"""The number of generations at which a counter of 32 bits overflows."""


def shifted_state(saved: Mapping[str, NDArray[Any]], by: int) -> dict[str, NDArray[Any]]:
    """Return the state of islands with all generation counters increased by `by`."""
    later = {name: array.copy() for name, array in saved.items()}
    later["island"][:, _COUNTED] += by
    if "began" in later:
        later["began"] += by
    return later


def shift(islands: Archipelago, by: int) -> None:
    """Increase the generation and migration counters of islands by `by`."""
    islands.restore(
        shifted_state(islands.snapshot(), by),
        generation=islands.generation + by,
        migrations=islands.migrations + by,
    )


def shift_reference(reference: Any, by: int) -> None:
    """Increase the counters of a NumPy reference by `by`."""
    reference.generation += by
    reference.since = [each + by for each in reference.since]
    if hasattr(reference, "began"):
        reference.began = [each + by for each in reference.began]
