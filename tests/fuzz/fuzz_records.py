"""What reads the records of runs, with whole ones to damage.

Where a checksum would refuse all that is damaged, some are given the checksum of what is in them,
so that what comes after it is tried as well.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from fuzz_cases import Target

from islands.backends import choose
from islands.parallel import World
from islands.problems import load
from islands.run.agreement import identity
from islands.run.checkpoint import digest
from islands.run.content import checksum
from islands.run.islands_of import islands_of
from islands.run.ledger import LEDGER, enter, read_rows, row_of
from islands.run.manifest import Manifest, content_digest
from islands.run.origin import restore
from islands.run.parquet import read_parquet, write_parquet
from islands.run.resolve import layers, resolve
from islands.run.runner import Output, run
from islands.run.solution import recorded
from islands.run.stream import Extent, Stream, first_rows, stream_path

TABLE = pa.table({"island": [0, 1, 0], "best": [5, None, 3], "word": ["ring", "", "a"]})


def records(folder: Path) -> list[Target]:
    """Return the readers of tables and of checkpoints."""
    return [*tables(folder), *checkpoints(folder / "run")]


def tables(folder: Path) -> list[Target]:
    """Return the readers of rows."""
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

    return [
        Target("stream", streamed.name, (streamed.read_bytes(),), rows),
        Target("parquet", parquet.name, (parquet.read_bytes(),), read_parquet),
    ]


def checkpoints(folder: Path) -> list[Target]:
    """Return what reads a run's folder: its result, its row in a series, and its checkpoint."""
    problem = load("demo/qap")
    asked = {"algorithm": "ga", "encoding": "permutation", "improver": "none", "islands": 2}
    asked |= {"population": 6, "backend": "cpu", "threads": 1, "stop": "generations=4"}
    spec = resolve(layers(asked), problem)
    result = run(spec, problem, World(), Output(True, folder))
    which = identity(spec, problem)
    archipelago = islands_of(spec, problem, World(), choose("cpu", 1))
    (checkpoint,) = (folder / "checkpoints").iterdir()
    manifest, state = checkpoint / "manifest.json", checkpoint / "rank-000.npz"
    whole, values = manifest.read_bytes(), json.loads(manifest.read_bytes())
    enter(folder.parent, row_of(result))
    table = (folder.parent / LEDGER).read_bytes()

    def sealed(path: Path) -> object:
        """Read a manifest whose checksum is that of its content, whatever that is."""
        try:
            found = json.loads(path.read_bytes())
            found.pop("sha256")
            path.write_text(json.dumps(found | {"sha256": content_digest(found)}))
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            pass
        return Manifest.read(path.parent, which)

    def restored(path: Path) -> object:
        """Go on from a state that the manifest calls its own, whatever is in it."""
        part = values["parts"][0] | {"bytes": path.stat().st_size, "sha256": digest(path)}
        others = {key: value for key, value in values.items() if key != "sha256"}
        others["parts"] = [part]
        manifest.write_text(json.dumps(others | {"sha256": content_digest(others)}))
        try:
            origin = restore(folder, spec, problem, which, World(), archipelago, lambda _: None)
            archipelago.advance(1)
            return origin
        finally:
            manifest.write_bytes(whole)

    def inside(path: Path) -> str:
        return str(path.relative_to(folder.parent))

    manifests = inside(manifest)
    return [
        Target("manifest", manifests, (whole,), lambda path: Manifest.read(path.parent, which)),
        Target("sealed manifest", manifests, (whole,), sealed),
        Target("state", inside(state), (state.read_bytes(),), restored),
        Target(
            "result",
            inside(folder / "solution.parquet"),
            ((folder / "solution.parquet").read_bytes(),),
            lambda path: recorded(path.parent),
        ),
        Target("runs.tsv", LEDGER, (table,), lambda path: read_rows(path.parent)),
    ]
