"""Parquet files with a checksum of all their rows and metadata.

Arrow's own threads are not used: a thread that still runs when a short process ends would end
it with `abort`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from islands.errors import InputError
from islands.paths import published
from islands.record.content import RowsChecksum, checksum
from islands.untrusted import MISMATCH, parsing

if TYPE_CHECKING:
    import pyarrow as pa

_CHECKSUM = b"islands.sha256"
"""The metadata key of the checksum of the rows and all other metadata."""
_SCHEMA = b"ARROW:schema"
"""The metadata key of Arrow's own schema."""


def write_parquet(path: Path, tables: Iterable[pa.Table], schema: pa.Schema) -> None:
    """Write tables one after the other to a file, which appears complete or not at all."""
    import pyarrow.parquet as pq

    rows = RowsChecksum(schema)
    # Pass an open file, as Arrow accepts no path that is not UTF-8.
    with (
        published(path) as temporary,
        temporary.open("wb") as stream,
        pq.ParquetWriter(stream, schema) as writer,
    ):
        for table in tables:
            for batch in table.to_batches():
                rows.add(batch)
            writer.write_table(table.replace_schema_metadata(schema.metadata))
        writer.add_key_value_metadata({_CHECKSUM: rows.hexdigest(schema.metadata)})


def read_parquet(path: Path) -> pa.Table:
    """Return the rows and metadata; refuse a damaged file."""
    import pyarrow.parquet as pq

    with (
        parsing(path),
        path.open("rb") as stream,
        pq.ParquetFile(stream, pre_buffer=False) as file,
    ):
        table = file.read(use_threads=False)
        table.validate(full=True)
        metadata = dict(file.metadata.metadata or {})
        said = {key: metadata[key] for key in metadata.keys() - {_CHECKSUM, _SCHEMA}}
        found = checksum(table, said).encode()
    if _CHECKSUM not in metadata:
        raise InputError(f"{path}: has no checksum: it was written by another version of islands")
    if metadata[_CHECKSUM] != found:
        raise InputError(f"{path}: {MISMATCH}")
    return table.replace_schema_metadata(said)
