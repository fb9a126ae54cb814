"""The records of a run as tables: collected in memory, or read from its folder.

For a long run, only every second, fourth, ... epoch is kept in memory.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from islands.configuration.resolved import Resolved
from islands.errors import InputError, RunError
from islands.inside import inside, inside_all
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.record import messages
from islands.record.folder import FINISHED, UNFINISHED, has_checkpoint, how_to_repeat
from islands.record.parquet import (
    MOST_ROWS,
    TooManyRowsError,
    read_parquet,
    require_at_most,
    rows_in,
)
from islands.record.records import Migrations, Record, Trace, batch_of, kinds_of
from islands.record.stream import rank_and_start, streamed_rows

if TYPE_CHECKING:
    import pyarrow as pa

Columns = list[NDArray[Any]]

_KINDS: dict[str, type[Record]] = {kind.folder: kind for kind in (Trace, Migrations)}

_MOST_ROWS, _ROWS_AT_ONCE = 1 << 20, 1 << 12
"""Maximum number of rows of all ranks in memory, and of rows converted to arrays at once."""
_KEPT_ROWS = 1 << 20
_MOST_THINNED_ROWS = 1 << 24
"""Maximum number of rows that are kept of a long record, and maximum number of rows in its files,
as reading them takes seconds."""


class MemoryRecords:
    """Collects the records of a rank in memory."""

    def __init__(self, resolved: Resolved, world: World) -> None:
        self._problem, self._world = resolved.problem, world
        kinds = kinds_of(resolved.spec)
        self._rows = {kind: Rows(kind, resolved.problem, world.size) for kind in kinds}

    def epoch(self, epoch: Epoch) -> None:
        """Add an epoch."""
        for rows in self._rows.values():
            rows.add(epoch)

    def of_all_ranks(self) -> KeptRecords:
        """Return the rows of all ranks, the same on every rank; collective."""
        columns = {}
        for kind, rows in self._rows.items():
            every = max(self._world.allgather(rows.every))
            parts = [part for part in self._world.allgather(rows.columns(every)) if part]
            columns[kind.folder] = _joined(parts)
        return KeptRecords(self._problem, columns)


class Rows:
    """The rows of a record of one rank."""

    def __init__(self, kind: type[Record], problem: Problem, ranks: int) -> None:
        """Share the limit on rows equally among `ranks` ranks."""
        self._kind, self._problem, self._most = kind, problem, _MOST_ROWS // ranks
        self._epochs = self._waiting_rows = 0
        self.every = 1
        """A power of two; epochs whose numbers are multiples of it are kept."""
        self._waiting: list[tuple[int, Epoch]] = []
        self._last: tuple[int, Epoch] | None = None
        self._parts: list[Columns] = []
        """The columns of rows, preceded by the numbers of their epochs."""

    def add(self, epoch: Epoch) -> None:
        """Add the rows of an epoch, unless it is skipped."""
        self._last = (self._epochs, epoch)
        if self._epochs % self.every == 0:
            self._wait(*self._last)
            if self._waiting_rows >= _ROWS_AT_ONCE:
                self._convert()
        self._epochs += 1

    def columns(self, every: int) -> Columns:
        """Return the rows of epochs whose number is a multiple of `every`, and the last epoch."""
        self._convert()
        self._thin(every)
        if self._last is not None and self._last[0] % every != 0:
            self._wait(*self._last)
            self._convert(is_last=True)
        return _joined(self._parts)[1:]

    def _wait(self, number: int, epoch: Epoch) -> None:
        rows = self._kind.rows_of(epoch)
        if rows:
            self._waiting.append((number, epoch))
            self._waiting_rows += rows

    def _convert(self, *, is_last: bool = False) -> None:
        if not self._waiting:
            return
        epochs = [epoch for _, epoch in self._waiting]
        counts = [self._kind.rows_of(epoch) for epoch in epochs]
        numbers = np.repeat([number for number, _ in self._waiting], counts)
        self._parts.append([numbers, *self._kind.columns(self._problem, epochs)])
        self._waiting, self._waiting_rows = [], 0
        if not is_last and sum(len(part[0]) for part in self._parts) > self._most:
            self._thin(2 * self.every)

    def _thin(self, every: int) -> None:
        """Keep only epochs whose number is a multiple of `every`."""
        if every > self.every and self._parts:
            together = _joined(self._parts)
            kept = together[0] % every == 0
            self._parts = [[column[kept] for column in together]]
        self.every = every


@dataclass(frozen=True)
class KeptRecords:
    """The records of a run without a folder."""

    problem: Problem
    columns: Mapping[str, Columns]

    def table(self, name: str) -> pa.Table:
        """Return all rows of the record `name`, ordered by generation and island."""
        import pyarrow as pa

        kind = _KINDS[name]
        if name not in self.columns:
            raise _unrecorded(name)
        schema, columns = kind.schema(self.problem), self.columns[name]
        if not columns:
            return schema.empty_table()
        return kind.ordered(pa.Table.from_batches([batch_of(columns, schema)]))


@dataclass(frozen=True)
class FolderRecords:
    """The records in the folder of a run."""

    problem: Problem
    folder: Path

    def table(self, name: str) -> pa.Table:
        """Return all rows of the record `name`, ordered by generation and island."""
        return stored_table(self.folder, name)


def stored_table(folder: Path, name: str) -> pa.Table:
    """Return all rows of a record in the folder of a run, ordered by generation and island."""
    if not folder.exists():
        raise messages.removed_folder(folder)
    if not (folder / FINISHED).exists():
        raise messages.incomplete_records(folder)
    rows = read_records(folder, name, most=sys.maxsize)
    if rows is None:
        raise _unrecorded(name)
    return _KINDS[name].ordered(rows.drop_columns("rank"))


def _unrecorded(name: str) -> RunError:
    return RunError(
        f'this run recorded no {name}. Pass record={{"{name}": True}} to islands.solve to get them'
    )


def _joined(parts: Sequence[Columns]) -> Columns:
    """Concatenate the columns of several parts."""
    if len(parts) < 2:
        return list(parts[0]) if parts else []

    def joined(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        if any(isinstance(column, np.ma.MaskedArray) for column in columns):
            return np.ma.concatenate(columns)  # type: ignore[no-any-return, no-untyped-call]
        return np.concatenate(columns)

    return [joined(columns) for columns in zip(*parts, strict=True)]


def read_records(
    folder: Path,
    name: str,
    *,
    most: int | None = None,
    thinned: Callable[[str], None] | None = None,
) -> pa.Table | None:
    """Return the rows of a record of all ranks, with the rank as first column; None without rows.

    The rows of an unfinished run are those of its last start so far. If `thinned` is given, read
    only every second, fourth, ... generation of a long record, and call it with a message;
    otherwise, reject a record with more than `most` rows.
    """
    import pyarrow as pa

    paths, fields = files_of(folder, name), _KINDS[name].fields()
    with _with_fix(folder):
        if any(path.suffix == ".parquet" for path in paths):
            tables = _published(paths, fields, MOST_ROWS if most is None else most, thinned)
        else:
            tables = [streamed_rows(path, fields) for path in paths]
    if not tables:
        return None
    ranked = list(map(_with_rank, tables, paths))
    if any(table.schema != ranked[0].schema for table in ranked):
        raise InputError(f"{folder / name}: its files have different columns. Restore them")
    return pa.concat_tables(ranked)


def files_of(folder: Path, name: str) -> list[Path]:
    """Return the files of a record: the streams of the last start, or the Parquet files."""
    files = inside(folder, name)
    streams = [] if (folder / FINISHED).exists() else _last_streams(files)
    return streams or inside_all(files, "rank-*.parquet")


@contextmanager
def _with_fix(folder: Path) -> Iterator[None]:
    """Append the fix to errors about a record."""
    try:
        yield
    except TooManyRowsError as error:
        raise InputError(f"{error}. Read its files with another program, such as pandas") from error
    except InputError as error:
        fix = f"Repeat the run with: {how_to_repeat(folder)}"
        if not (folder / FINISHED).exists() and has_checkpoint(folder):
            fix = f"Continue the run with: islands resume {shlex.quote(str(folder))}"
        raise InputError(f"{error}. {fix}") from error


def _published(
    paths: Sequence[Path],
    fields: Sequence[pa.Field],
    most: int,
    thinned: Callable[[str], None] | None,
) -> list[pa.Table]:
    """Return the rows of Parquet files; see `read_records`."""
    rows, every = sum(map(rows_in, paths)), 1
    require_at_most(paths[0].parent, rows, most if thinned is None else _MOST_THINNED_ROWS)
    while thinned is not None and rows > every * _KEPT_ROWS:
        every *= 2
    if thinned is None or every == 1:
        return [read_parquet(path, fields) for path in paths]
    thinned(f"{paths[0].parent} has {rows} rows: one of {every} generations is read")
    return [read_parquet(path, fields, keep=Thinning(every).keep) for path in paths]


class Thinning:
    """Selects the rows of every second, fourth, ... generation of a record."""

    def __init__(self, every: int) -> None:
        self._every, self._generations, self._last = every, -1, -1

    def keep(self, rows: pa.Table) -> pa.Table:
        """Return the selected rows of the next piece."""
        import pyarrow as pa

        generation = rows.column("generation").to_numpy()
        is_new = np.diff(generation, prepend=self._last) != 0
        number = self._generations + np.cumsum(is_new)
        if len(rows):
            self._generations, self._last = int(number[-1]), int(generation[-1])
        return rows.filter(pa.array(number % self._every == 0))


def _last_streams(folder: Path) -> list[Path]:
    """Return the streams of the last start, ordered by rank."""
    streams = []
    for path in folder.glob(f"rank-*{UNFINISHED}"):
        numbers = rank_and_start(path.name)
        with suppress(FileNotFoundError):  # the run may end now
            if numbers is not None and path.stat().st_size:  # empty until the first row is due
                rank, start = numbers
                streams.append((start, rank, path))
    last = max((start for start, *_ in streams), default=0)
    return [path for start, _, path in sorted(streams) if start == last]


def _with_rank(table: pa.Table, path: Path) -> pa.Table:
    import pyarrow as pa

    numbers = rank_and_start(path.name)
    if numbers is None:
        raise InputError(f"{path}: is not a file of a rank. Remove it")
    ranks = pa.array(np.full(len(table), numbers[0], np.int32))
    return table.replace_schema_metadata(None).add_column(0, "rank", ranks)
