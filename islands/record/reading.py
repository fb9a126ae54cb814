"""Read the records of a run from its folder, also of one that is not finished."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from islands.errors import InputError
from islands.inside import inside, inside_all, opened
from islands.record.folder import FINISHED, SETTINGS, UNFINISHED, has_checkpoint
from islands.record.parquet import (
    MOST_ROWS,
    TooManyRowsError,
    read_parquet,
    require_at_most,
    rows_in,
)
from islands.record.stream import MOST_BYTES, read_stream
from islands.untrusted import parsing

if TYPE_CHECKING:
    import pyarrow as pa

_KEPT_ROWS = 1 << 20
_MOST_THINNED_ROWS = 1 << 24
"""The rows that are kept of a long record, and the most that it may have: reading takes seconds."""
_NAME = re.compile(rf"rank-(\d+)(?:\.(\d+){re.escape(UNFINISHED)}|\.parquet)")


def read_records(
    folder: Path, name: str, thinned: Callable[[str], None] | None = None
) -> pa.Table | None:
    """Return the rows of the record `name` of all ranks, with the rank of each as first column.

    The rows of a run that is not finished are those of its last start so far. Return None if there
    is no such record. Of a long record, read only every second, fourth, ... generation if `thinned`
    is given, and tell it; otherwise refuse it.
    """
    import pyarrow as pa

    paths = files_of(folder, name)
    with _with_fix(folder):
        if any(path.suffix == ".parquet" for path in paths):
            tables = [*_published(paths, thinned)]
        else:
            tables = [(path, _streamed(path)) for path in paths]
    if not tables:
        return None
    ranked = [_with_rank(table, path) for path, table in tables]
    if any(each.schema != ranked[0].schema for each in ranked):
        raise InputError(f"{folder / name}: its files have different columns. Restore them")
    return pa.concat_tables(ranked)


def files_of(folder: Path, name: str) -> list[Path]:
    """Return the files of the record `name`: the streams of the last start, or one of each rank."""
    place = inside(folder, name)
    streams = [] if (folder / FINISHED).exists() else _last_streams(place)
    return streams or inside_all(place, "rank-*.parquet")


@contextmanager
def _with_fix(folder: Path) -> Iterator[None]:
    """Add to the error of a damaged record how to make it again."""
    try:
        yield
    except TooManyRowsError as error:
        raise InputError(f"{error}. Read its files with another program, such as pandas") from error
    except InputError as error:
        line = ["islands", "run", "--config", str(folder / SETTINGS)]
        fix = f"Repeat the run with: {shlex.join(line)}"
        if not (folder / FINISHED).exists() and has_checkpoint(folder):
            fix = f"Continue the run with: {shlex.join(['islands', 'resume', str(folder)])}"
        raise InputError(f"{error}. {fix}") from error


def _published(
    paths: Sequence[Path], thinned: Callable[[str], None] | None
) -> Iterator[tuple[Path, pa.Table]]:
    """Yield the rows of Parquet files; see `read_records`."""
    rows, every = sum(map(rows_in, paths)), 1
    for path in paths[:1]:
        require_at_most(path.parent, rows, MOST_ROWS if thinned is None else _MOST_THINNED_ROWS)
    while thinned is not None and rows > every * _KEPT_ROWS:
        every *= 2
    if thinned is not None and every > 1:
        thinned(f"{paths[0].parent} has {rows} rows: one of {every} generations is read")
    for path in paths:
        yield path, read_parquet(path, sys.maxsize, None if every == 1 else Thinning(every).keep)


class Thinning:
    """Keeps the rows of every second, fourth, ... generation of a record."""

    def __init__(self, every: int) -> None:
        self._every, self._generations, self._last = every, -1, -1

    def keep(self, rows: pa.Table) -> pa.Table:
        """Return the rows that are kept of the next piece."""
        import numpy as np
        import pyarrow as pa

        generation = rows.column("generation").to_numpy()
        is_new = np.diff(generation, prepend=self._last) != 0
        number = self._generations + np.cumsum(is_new)
        if len(rows):
            self._generations, self._last = int(number[-1]), int(generation[-1])
        return rows.filter(pa.array(number % self._every == 0))


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

    batches: list[pa.RecordBatch] = []
    with parsing(path), opened(path) as source:
        if (size := os.fstat(source.fileno()).st_size) > MOST_BYTES:
            raise TooManyRowsError(f"{path}: has {size} bytes, more than {MOST_BYTES}")
        schema, reader = read_stream(source)
        try:
            batches.extend(reader)
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
