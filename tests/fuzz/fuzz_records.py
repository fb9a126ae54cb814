"""Readers of the records of runs, with valid files to damage.

As a checksum would reject every damaged file, some readers update the checksum first, to test the
code behind it.
"""

import json
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from fuzz_cases import Target
from numpy.typing import NDArray

from islands.backends import choose
from islands.cells.series import COLUMNS, row_of
from islands.cells.store import Store
from islands.configuration.identity import identity
from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine.build import islands_of
from islands.engine.runner import run
from islands.engine.single import Output
from islands.parallel import World
from islands.problems import load
from islands.record.checkpoint import Manifest, digest
from islands.record.folder import LEDGER
from islands.record.parquet import checksum, read_parquet, write_parquet
from islands.record.restore import restore
from islands.record.solution import recorded
from islands.record.stream import Extent, Stream, first_rows, stream_path
from islands.untrusted import content_digest

TABLE = pa.table({"island": [0, 1, 0], "best": [5, None, 3], "word": ["ring", "", "a"]})


def records(folder: Path) -> list[Target]:
    return [*tables(folder), *checkpoints(folder / "run")]


def tables(folder: Path) -> list[Target]:
    stream = Stream(folder, 0, 1, TABLE.schema)
    for batch in TABLE.to_batches(2):
        stream.write(batch)
    stream.close()
    extent = Extent(3, checksum(TABLE))
    streamed = stream_path(folder, 0, 1)
    parquet = folder / "a.parquet"
    write_parquet(parquet, [TABLE], TABLE.schema)

    def rows(path: Path) -> object:
        return first_rows(path.parent, 0, 1, TABLE.schema, extent)

    def table(path: Path) -> object:
        return read_parquet(path, [*TABLE.schema])

    return [
        Target("stream", streamed.name, (streamed.read_bytes(),), rows),
        Target("parquet", parquet.name, (parquet.read_bytes(),), table),
    ]


def checkpoints(folder: Path) -> list[Target]:
    """Return the readers of a run's folder: its result, its row in a series, and its checkpoint."""
    finished = Finished("demo/qap", folder, algorithm="ga", encoding="permutation")
    which, manifest = finished.identity, finished.manifest
    row, ledger = row_of(finished.result), Store()
    ledger.open(folder.parent)
    ledger.add({"instance": row["instance"], "seed": row["seed"]}, row)
    ledger.close()

    def sealed(path: Path) -> object:
        """Read a manifest with a checksum of the damaged content."""
        with suppress(ValueError, AttributeError, KeyError, TypeError, RecursionError):
            found = json.loads(path.read_bytes())
            found.pop("sha256")
            path.write_text(json.dumps(found | {"sha256": content_digest(found)}))
        return Manifest.read(path.parent, which)

    def inside(path: Path) -> str:
        return str(path.relative_to(folder.parent))

    whole = finished.manifest_text
    lines = (folder.parent / LEDGER).read_bytes()

    def ledger_of(path: Path) -> None:
        with closing(Store()) as read:
            read.open(path.parent)
            read.tabulate(path.with_name("table.tsv"), COLUMNS, lambda _, row: row)

    result = folder / "solution.parquet"
    states = [
        finished,
        Finished("demo/tsp", folder.parent / "keys", algorithm="brkga"),
        Finished("demo/mkp", folder.parent / "bits", algorithm="pso", encoding="bits"),
    ]
    return [
        Target("manifest", inside(manifest), (whole,), lambda p: Manifest.read(p.parent, which)),
        Target("sealed manifest", inside(manifest), (whole,), sealed),
        Target("result", inside(result), (result.read_bytes(),), lambda p: recorded(p.parent)),
        Target("runs.jsonl", LEDGER, (lines,), ledger_of),
        *(
            Target(
                f"state of {each.spec.algorithm}",
                f"{each.spec.algorithm}.bytes",
                (b"".join(array.tobytes() for array in each.arrays.values()),),
                each.restored_from_bytes,
            )
            for each in states
        ),
        Target("state", inside(finished.state), (finished.state_bytes,), finished.restored),
    ]


class Finished:
    """A small run with one checkpoint, and islands to restore from it."""

    def __init__(self, instance: str, folder: Path, **options: str) -> None:
        problem = load(instance)
        request = {"improver": "none", "islands": 2, "population": 20, "backend": "cpu"}
        request |= options | {"threads": 1, "stop": "generations=4"}
        self.folder, self.resolved = folder, resolve(Request.of(request), problem)
        self.spec = self.resolved.spec
        self.result = run(self.resolved, World(), Output(True, folder))
        self.archipelago = islands_of(self.resolved, World(), choose("cpu", 1))
        (self.state,) = folder.glob("checkpoints/*/rank-000.npz")
        self.manifest = self.state.with_name("manifest.json")
        self.manifest_text, self.state_bytes = self.manifest.read_bytes(), self.state.read_bytes()
        with np.load(self.state) as saved:
            self.arrays: dict[str, NDArray[Any]] = dict(saved)
        self.identity = identity(self.resolved)

    def restored_from_bytes(self, path: Path) -> object:
        """Restore arrays filled with these bytes in order, repeated as needed."""
        left, arrays = path.read_bytes(), {}
        for name, array in self.arrays.items():
            mine, left = left[: array.nbytes].ljust(array.nbytes, b"\0"), left[array.nbytes :]
            arrays[name] = np.frombuffer(mine, array.dtype).reshape(array.shape)
        np.savez(self.state, **arrays)
        return self.restored(self.state)

    def restored(self, path: Path) -> object:
        """Restore a state with its checksum in the manifest updated."""
        values = json.loads(self.manifest_text)
        del values["sha256"]
        values["parts"][0] |= {"bytes": path.stat().st_size, "sha256": digest(path)}
        self.manifest.write_text(json.dumps(values | {"sha256": content_digest(values)}))
        which, archipelago = self.identity, self.archipelago
        restore(self.folder, self.resolved, which, World(), archipelago, lambda _: None)
        archipelago.advance(1)
        return self.archipelago.generation
