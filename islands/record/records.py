"""The records of a run, the trace and the migrations, with one file per rank.

Rows are buffered and written in batches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.configuration.spec import RunSpec
from islands.inside import inside
from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.record.folder import MIGRATIONS, TRACE
from islands.record.stream import Extent, Stream

if TYPE_CHECKING:
    import pyarrow as pa

_COST = "cost"
"""The type of a column of costs, which are either integers or real numbers."""
_ROWS_BETWEEN_WRITES = 1 << 14
_SECONDS_BETWEEN_WRITES = 1.0


class Record(ABC):
    """Records epochs as rows of `schema`."""

    folder: ClassVar[str]
    """The name of the record, and of the folder with its files."""
    island: ClassVar[str]
    """The column with the number of the island, by which rows are sorted."""
    types: ClassVar[Sequence[tuple[str, str]]]
    """The columns and their Arrow types."""
    describes_state: ClassVar[bool]
    """Whether rows describe the state of a generation; a resumed run then repeats the last rows."""

    def __init__(
        self,
        run: Path,
        rank: int,
        start: int,
        problem: Problem,
        earlier: pa.Table | None = None,
        identity: str = "",
    ) -> None:
        """Open the record for a start of the run `identity`; first write the `earlier` rows."""
        self._problem, self._schema = problem, self.schema(problem)
        self._stream = Stream(inside(run, self.folder), rank, start, self._schema, identity)
        self._waiting: list[Epoch] = []
        self._waiting_rows = 0
        self._written_at = 0.0
        if earlier is not None:
            for batch in earlier.to_batches():
                self._stream.write(batch)

    @classmethod
    def schema(cls, problem: Problem) -> pa.Schema:
        """Return the columns for a problem, which determines the type of costs."""
        return cls._with_costs("int64" if problem.scale.is_whole else "double")

    @classmethod
    def fields(cls) -> list[pa.Field]:
        """Return the columns that a file may have, with both types of costs."""
        return [*cls._with_costs("int64"), *cls._with_costs("double")]

    @classmethod
    def _with_costs(cls, cost: str) -> pa.Schema:
        import pyarrow as pa

        return pa.schema([(name, cost if kind == _COST else kind) for name, kind in cls.types])

    @staticmethod
    @abstractmethod
    def rows_of(epoch: Epoch) -> int:
        """Return the number of rows of an epoch."""

    @staticmethod
    @abstractmethod
    def columns(problem: Problem, epochs: Sequence[Epoch]) -> list[NDArray[Any]]:
        """Return the rows of epochs as columns."""

    @classmethod
    def ordered(cls, table: pa.Table) -> pa.Table:
        """Sort the rows by generation and island; the sort is stable."""
        return table.sort_by([("generation", "ascending"), (cls.island, "ascending")])

    def add(self, epoch: Epoch) -> None:
        """Buffer the rows of an epoch; write the buffer if it is large, or once a second."""
        rows = self.rows_of(epoch)
        if rows == 0:
            return
        self._waiting.append(epoch)
        self._waiting_rows += rows
        seconds = epoch.progress.seconds
        waited = seconds - self._written_at
        if self._waiting_rows >= _ROWS_BETWEEN_WRITES or waited >= _SECONDS_BETWEEN_WRITES:
            self._write()
            self._written_at = seconds

    def flushed(self) -> Extent:
        """Write all rows to disk and return their extent."""
        self._write()
        return self._stream.synced()

    def publish(self, metadata: Mapping[str, str]) -> None:
        """Write the Parquet file from all rows; the stream is kept."""
        self._write()
        self._stream.close()
        self._stream.publish(metadata)

    def _write(self) -> None:
        if self._waiting:
            self._stream.write(batch_of(self.columns(self._problem, self._waiting), self._schema))
            self._waiting, self._waiting_rows = [], 0


def batch_of(columns: Sequence[NDArray[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Convert NumPy columns to an Arrow batch."""
    import pyarrow as pa

    arrays = [array_of(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def array_of(column: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Convert a column of numbers, booleans or few distinct texts, which may be masked.

    Numbers of the right type are not copied. `pyarrow.array` would first import pandas if it is
    installed, which takes a quarter of a second, and it converts texts slowly.
    """
    import pyarrow as pa

    if column.dtype.kind == "U":
        texts, codes = _coded(column)
        lengths = np.array([len(text) for text in texts], np.int32)
        ends = np.cumsum(lengths[codes], dtype=np.int32)
        characters = b"".join(map(texts.__getitem__, codes.tolist()))
        parts: list[Any] = [np.concatenate([np.zeros(1, np.int32), ends]), characters]
    else:
        values = np.ma.getdata(column).astype(
            _DTYPES.get(str(kind), column.dtype), order="C", casting="same_kind", copy=False
        )
        parts = [_packed(values) if values.dtype == bool else values]
    masked = np.ma.getmaskarray(column) if np.ma.isMaskedArray(column) else np.zeros(0, bool)
    valid = pa.py_buffer(_packed(~masked)) if masked.any() else None
    return pa.Array.from_buffers(kind, len(column), [valid, *map(pa.py_buffer, parts)])


_DTYPES = {"int32": np.int32, "int64": np.int64, "double": np.float64, "bool": np.bool_}


def _packed(bits: NDArray[np.bool_]) -> NDArray[np.uint8]:
    return np.packbits(bits, bitorder="little")


def _coded(column: NDArray[np.str_]) -> tuple[list[bytes], NDArray[np.int8]]:
    """Return the distinct texts of a column, and for each row the index of its text.

    With few distinct texts, this is much faster than `numpy.unique`.
    """
    texts: list[bytes] = []
    codes = np.full(len(column), -1, np.int8)
    while (codes < 0).any():
        text = column[codes.argmin()]
        codes[column == text] = len(texts)
        texts.append(str(text).encode())
    return texts, codes


class Trace(Record):
    """A row per island and epoch with the measures of the island.

    Costs have the sign of the objective. The best cost is null without a feasible solution.
    """

    folder = TRACE
    island = "island"
    types = (
        ("island", "int32"),
        ("generation", "int64"),
        ("seconds", "double"),
        ("best", _COST),
        ("mean", "double"),
        ("worst", _COST),
        ("best_generation", "int64"),
        ("evaluations", "int64"),
        ("distance", "double"),
        ("distinct", "double"),
        ("colony", "int32"),
    )
    describes_state = True

    @staticmethod
    def rows_of(epoch: Epoch) -> int:
        """Return the number of islands."""
        return len(epoch.measures)

    @staticmethod
    def columns(problem: Problem, epochs: Sequence[Epoch]) -> list[NDArray[Any]]:
        """Return one row per island and epoch."""
        scale = problem.scale
        counts = [len(epoch.measures) for epoch in epochs]
        measures = [measure for epoch in epochs for measure in epoch.measures]
        return [
            np.array([measure.island for measure in measures], np.int32),
            np.repeat([epoch.progress.generation for epoch in epochs], counts),
            np.repeat([epoch.progress.seconds for epoch in epochs], counts),
            scale.user_costs(_masked([measure.best for measure in measures], np.int64)),
            scale.user_mean(np.array([measure.mean for measure in measures])),
            scale.user_costs(np.array([measure.worst for measure in measures])),
            np.array([measure.best_generation for measure in measures]),
            np.array([measure.evaluations for measure in measures]),
            _masked([measure.distance for measure in measures], np.float64),
            np.array([measure.distinct for measure in measures]),
            np.array([measure.colony for measure in measures], np.int32),
        ]


class Migrations(Record):
    """A row per migrant that arrived; costs have the sign of the objective."""

    folder = MIGRATIONS
    island = "to"
    types = (
        ("epoch", "int64"),
        ("generation", "int64"),
        ("from", "int32"),
        ("to", "int32"),
        ("cost", _COST),
        ("accepted", "bool"),
        ("bytes", "int64"),
        ("microseconds", "double"),
        ("transport", "string"),
        ("from_colony", "int32"),
        ("to_colony", "int32"),
    )
    describes_state = False

    @staticmethod
    def rows_of(epoch: Epoch) -> int:
        """Return the number of migrants that arrived."""
        return len(epoch.arrivals.cost) if epoch.arrivals is not None else 0

    @staticmethod
    def columns(problem: Problem, epochs: Sequence[Epoch]) -> list[NDArray[Any]]:
        """Return one row per arrival, ordered by receiving island."""
        batches = [epoch.arrivals for epoch in epochs if epoch.arrivals is not None]
        counts = [len(batch.cost) for batch in batches]
        costs = np.concatenate([batch.cost for batch in batches])
        return [
            np.repeat([batch.number for batch in batches], counts),
            np.repeat([epoch.progress.generation for epoch in epochs], counts),
            np.concatenate([batch.source for batch in batches]).astype(np.int32),
            np.concatenate([batch.target for batch in batches]).astype(np.int32),
            # Remove the bit that marks infeasible costs.
            problem.scale.user_costs(problem.scale.unmarked(costs)),
            np.concatenate([batch.accepted for batch in batches]),
            np.repeat([batch.bytes for batch in batches], counts),
            np.concatenate([batch.microseconds for batch in batches]),
            np.concatenate([batch.transport for batch in batches]),
            np.concatenate([batch.colonies(batch.source) for batch in batches]).astype(np.int32),
            np.concatenate([batch.colonies(batch.target) for batch in batches]).astype(np.int32),
        ]


def kinds_of(spec: RunSpec) -> list[type[Record]]:
    """Return the records that a run writes."""
    return [Trace, Migrations] if spec.record.migrations else [Trace]


def _masked(numbers: Sequence[float | None], kind: type[np.generic]) -> NDArray[Any]:
    """Return a masked array, in which None is masked."""
    unknown = [number is None for number in numbers]
    return np.ma.MaskedArray([number or 0 for number in numbers], unknown, kind)
