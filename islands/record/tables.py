"""The records of a run as whole tables: kept in memory without a folder, or read from its files.

In memory, a long run keeps only every second, fourth, ... epoch, so that memory is limited.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from islands.configuration.spec import RunSpec
from islands.errors import RunError
from islands.inside import inside, inside_all
from islands.parallel import World
from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.record.folder import FINISHED
from islands.record.parquet import read_parquet
from islands.record.record import Record, batch_of
from islands.record.trace import Migrations, Trace, records

if TYPE_CHECKING:
    import pyarrow as pa

Columns = list[NDArray[Any]]

KINDS: tuple[type[Record], ...] = (Trace, Migrations)

_MOST_ROWS = 1 << 20
_ROWS_AT_ONCE = 1 << 12


class MemoryRecords:
    """Collects the records of one rank in memory."""

    def __init__(self, spec: RunSpec, problem: Problem, world: World) -> None:
        self._problem, self._world = problem, world
        self._rows = {kind: Rows(kind.unwritten(problem), world.size) for kind in records(spec)}

    def epoch(self, epoch: Epoch) -> None:
        """Add an epoch."""
        for rows in self._rows.values():
            rows.add(epoch)

    def shared(self) -> KeptRecords:
        """Return the rows of all ranks, the same on every rank; collective."""
        found = {}
        for kind, rows in self._rows.items():
            every = max(self._world.allgather(rows.every))
            parts = [part for part in self._world.allgather(rows.columns(every)) if part]
            found[kind.folder] = _joined(parts)
        return KeptRecords(self._problem.maximise, self._problem, found)


class Rows:
    """The rows of one record of one rank."""

    def __init__(self, record: Record, ranks: int) -> None:
        """Keep at most the share of one of `ranks` ranks."""
        self._record, self._most = record, _MOST_ROWS // ranks
        self._epochs = self._waiting_rows = 0
        self.every = 1
        """The distance of the epochs that are kept: a power of two."""
        self._waiting: list[tuple[int, Epoch]] = []
        self._last: tuple[int, Epoch] | None = None
        self._parts: list[Columns] = []
        """Columns; the first one contains the number of the epoch of each row."""

    def add(self, epoch: Epoch) -> None:
        """Add the rows of an epoch unless it is left out."""
        self._last = (self._epochs, epoch)
        if self._epochs % self.every == 0:
            self._wait(*self._last)
            if self._waiting_rows >= _ROWS_AT_ONCE:
                self._convert()
        self._epochs += 1

    def columns(self, every: int) -> Columns:
        """Return the rows of each epoch whose number `every` divides, and of the last epoch."""
        self._convert()
        self._leave_out(every)
        if self._last is not None and self._last[0] % every != 0:
            self._wait(*self._last)
            self._convert(is_last=True)
        return _joined(self._parts)[1:]

    def _wait(self, number: int, epoch: Epoch) -> None:
        rows = self._record.rows_of(epoch)
        if rows:
            self._waiting.append((number, epoch))
            self._waiting_rows += rows

    def _convert(self, *, is_last: bool = False) -> None:
        if not self._waiting:
            return
        epochs = [epoch for _, epoch in self._waiting]
        counts = [self._record.rows_of(epoch) for epoch in epochs]
        numbers = np.repeat([number for number, _ in self._waiting], counts)
        self._parts.append([numbers, *self._record.columns(epochs)])
        self._waiting, self._waiting_rows = [], 0
        if not is_last and sum(len(part[0]) for part in self._parts) > self._most:
            self._leave_out(2 * self.every)

    def _leave_out(self, every: int) -> None:
        """Leave out the epochs whose number `every` does not divide."""
        if every > self.every and self._parts:
            together = _joined(self._parts)
            kept = together[0] % every == 0
            self._parts = [[column[kept] for column in together]]
        self.every = every


@dataclass(frozen=True)
class KeptRecords:
    """The records of a run without a folder."""

    maximise: bool
    problem: Problem
    columns: Mapping[str, Columns]

    def table(self, name: str) -> pa.Table:
        """Return all rows of the record `name`, ordered by generation and island."""
        import pyarrow as pa

        kind = _kind(name)
        if name not in self.columns:
            raise _unrecorded(name)
        schema, columns = kind.schema(self.problem), self.columns[name]
        if not columns:
            return schema.empty_table()
        return _ordered(pa.Table.from_batches([batch_of(columns, schema)]), kind)


@dataclass(frozen=True)
class FolderRecords:
    """The records in the folder of a run."""

    maximise: bool
    folder: Path
    problem: Problem | None = None

    def table(self, name: str) -> pa.Table:
        """Return all rows of the record `name`, ordered by generation and island."""
        import pyarrow as pa

        if not self.folder.exists():
            raise RunError(
                f"{self.folder}: no longer exists, and the records were in it. Keep the folder for"
                " as long as you need them"
            )
        if not (self.folder / FINISHED).exists():
            raise RunError(
                f"{self.folder}: the run is not finished, so its records are incomplete. Finish it"
                " with islands resume"
            )
        kind = _kind(name)
        paths = inside_all(inside(self.folder, kind.folder), "rank-*.parquet")
        if not paths:
            raise _unrecorded(name)
        tables = [read_parquet(path, sys.maxsize).replace_schema_metadata() for path in paths]
        return _ordered(pa.concat_tables(tables), kind)


def _kind(name: str) -> type[Record]:
    return next(kind for kind in KINDS if kind.folder == name)


def _unrecorded(name: str) -> RunError:
    return RunError(
        f'this run recorded no {name}. Pass record={{"{name}": True}} to islands.solve to get them'
    )


def _ordered(table: pa.Table, kind: type[Record]) -> pa.Table:
    """Return the rows by generation and island; rows of one island stay in order."""
    return table.sort_by([("generation", "ascending"), (kind.island, "ascending")])


def _joined(parts: Sequence[Columns]) -> Columns:
    """Return the columns of several parts as one part."""
    if len(parts) < 2:
        return list(parts[0]) if parts else []
    return [_concatenated(columns) for columns in zip(*parts, strict=True)]


def _concatenated(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    masked = any(isinstance(column, np.ma.MaskedArray) for column in columns)
    if not masked:
        return np.concatenate(columns)
    joined: NDArray[Any] = np.ma.concatenate(columns)  # type: ignore[no-untyped-call]
    return joined
