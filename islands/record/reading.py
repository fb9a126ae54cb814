"""Read the records of a run from its folder, also of one that is not finished."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from islands.errors import InputError
from islands.record.folder import FINISHED, SETTINGS, UNFINISHED, has_checkpoint
from islands.record.parquet import read_parquet
from islands.untrusted import parsing

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = re.compile(rf"rank-(\d+)(?:\.(\d+){re.escape(UNFINISHED)}|\.parquet)")


def read_records(folder: Path, name: str) -> pa.Table | None:
    """Return the rows of the record `name` of all ranks, with the rank of each as first column.

    The rows of a run that is not finished are those of its last start so far. Return None if there
    is no such record.
    """
    import pyarrow as pa

    with _with_fix(folder):
        tables = [
            (path, read_parquet(path) if path.suffix == ".parquet" else _streamed(path))
            for path in files_of(folder, name)
        ]
    if not tables:
        return None
    ranked = [_with_rank(table, path) for path, table in tables]
    if any(each.schema != ranked[0].schema for each in ranked):
        raise InputError(f"{folder / name}: its files have different columns. Restore them")
    return pa.concat_tables(ranked)


def files_of(folder: Path, name: str) -> list[Path]:
    """Return the files of the record `name`: the streams of the last start, or one of each rank."""
    streams = [] if (folder / FINISHED).exists() else _last_streams(folder / name)
    return streams or sorted((folder / name).glob("rank-*.parquet"))


@contextmanager
def _with_fix(folder: Path) -> Iterator[None]:
    """Add to the error of a damaged record how to make it again."""
    try:
        yield
    except InputError as error:
        line = ["islands", "run", "--config", str(folder / SETTINGS)]
        fix = f"Repeat the run with: {shlex.join(line)}"
        if not (folder / FINISHED).exists() and has_checkpoint(folder):
            fix = f"Continue the run with: {shlex.join(['islands', 'resume', str(folder)])}"
        raise InputError(f"{error}. {fix}") from error


def _last_streams(folder: Path) -> list[Path]:
    """Return the streams of the last start, in the order of the ranks."""
    # A stream is empty until its first row is due. A run may end while they are listed.
    written = [path for path in folder.glob(f"rank-*{UNFINISHED}") if _size(path)]
    found = [(path, _NAME.fullmatch(path.name)) for path in written]
    named = [(int(match[2]), int(match[1]), path) for path, match in found if match is not None]
    last = max((start for start, _, _ in named), default=0)
    return [path for start, _, path in sorted(named) if start == last]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _streamed(path: Path) -> pa.Table:
    """Return the complete batches of a stream, which another process may be writing."""
    import pyarrow as pa

    batches = []
    with parsing(path), path.open("rb") as source:
        reader = pa.ipc.open_stream(source)
        schema = reader.schema
        try:
            for batch in reader:
                batch.validate(full=True)
                batches.append(batch)
        except pa.ArrowInvalid:
            pass  # a process is writing this batch, or died; those before it are complete
        except OSError as error:
            if error.errno is not None:  # of the system, not Arrow's for a batch that ends early
                raise
    return pa.Table.from_batches(batches, schema)


def _with_rank(table: pa.Table, path: Path) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    match = _NAME.fullmatch(path.name)
    if match is None:
        raise InputError(f"{path}: is not a file of a rank. Remove it")
    ranks = pa.array(np.full(len(table), int(match[1]), np.int32))
    return table.replace_schema_metadata(None).add_column(0, "rank", ranks)
