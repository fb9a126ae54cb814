"""The records of a run, in one file per rank: the rows of its trace, and of its migrations.

Rows are buffered, and written in bulk.
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
"""The type of a column of costs, which are integers, or real numbers."""
_ROWS_BETWEEN_WRITES = 1 << 14
_SECONDS_BETWEEN_WRITES = 1.0


class Record(ABC):
    """Records epochs as rows of `schema`."""

    folder: ClassVar[str]
    """The folder of a run with one file per rank."""
    island: ClassVar[str]
    """The column with the island of a row."""
    types: ClassVar[Sequence[tuple[str, str]]]
    """The columns, and their types in Arrow's words."""
    describes_state: ClassVar[bool]
    """Whether a generation's rows describe its state, and so are written again after resuming."""

    def __init__(
        self,
        run: Path,
        rank: int,
        start: int,
        problem: Problem,
        earlier: pa.Table | None = None,
        identity: str = "",
    ) -> None:
        """Open the record of a start, which begins with `earlier` rows; `identity` is the run's."""
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
        """Return the columns for a problem, whose costs may have decimals."""
        import pyarrow as pa

        cost = "int64" if problem.scale.is_whole else "double"
        return pa.schema([(name, cost if kind == _COST else kind) for name, kind in cls.types])

    @classmethod
    def fields(cls) -> list[pa.Field]:
        """Return the columns that a file may have; costs are of either type."""
        import pyarrow as pa

        costs = ("int64", "double")
        types = [
            (n, each) for n, kind in cls.types for each in (costs if kind == _COST else [kind])
        ]
        return [*pa.schema(types)]

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
        """Return the rows by generation and island; rows of one island stay in order."""
        return table.sort_by([("generation", "ascending"), (cls.island, "ascending")])

    def add(self, epoch: Epoch) -> None:
        """Add the rows of an epoch. This is called often, and so mostly only buffers them."""
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

    def kept(self) -> Extent:
        """Write all rows to disk and return their extent."""
        self._write()
        return self._stream.secured()

    def publish(self, metadata: Mapping[str, str]) -> None:
        """Write the Parquet file and keep the stream."""
        self._write()
        self._stream.close()
        self._stream.publish(metadata)

    def _write(self) -> None:
        if self._waiting:
            self._stream.write(batch_of(self.columns(self._problem, self._waiting), self._schema))
            self._waiting, self._waiting_rows = [], 0


def batch_of(columns: Sequence[NDArray[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return columns of NumPy arrays as an Arrow batch."""
    import pyarrow as pa

    kinds = [field.type for field in schema]
    arrays = [array_of(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def array_of(column: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Return a column of numbers, truth values or few distinct words, some of them masked.

    It has the memory of the column. `pyarrow.array` would import pandas first, where that is
    installed, in a quarter of a second, and converts text slowly.
    """
    import pyarrow as pa

    if column.dtype.kind == "U":
        words, codes = _coded(column)
        lengths = np.array([len(word) for word in words], np.int32)
        ends = np.cumsum(lengths[codes], dtype=np.int32)
        text = b"".join(map(words.__getitem__, codes.tolist()))
        parts: list[Any] = [np.concatenate([np.zeros(1, np.int32), ends]), text]
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
    """Return the distinct words of a column, and for each row the number of its word."""
    words: list[bytes] = []
    codes = np.full(len(column), -1, np.int8)
    while (codes < 0).any():
        word = column[codes.argmin()]
        codes[column == word] = len(words)
        words.append(str(word).encode())
    return words, codes


class Trace(Record):
    """A row per island and epoch, with its measures; costs have the sign of the objective.

    The best cost of an island without a feasible solution is null.
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
        own = problem.scale.own_sense
        counts = [len(epoch.measures) for epoch in epochs]
        measures = [measure for epoch in epochs for measure in epoch.measures]
        return [
            np.array([measure.island for measure in measures], np.int32),
            np.repeat([epoch.progress.generation for epoch in epochs], counts),
            np.repeat([epoch.progress.seconds for epoch in epochs], counts),
            own(_masked([measure.best for measure in measures], np.int64)),
            problem.scale.own_mean(np.array([measure.mean for measure in measures])),
            own(np.array([measure.worst for measure in measures])),
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
        arrivals = [epoch.arrivals for epoch in epochs if epoch.arrivals is not None]
        counts = [len(each.cost) for each in arrivals]
        costs = np.concatenate([each.cost for each in arrivals])
        return [
            np.repeat([each.number for each in arrivals], counts),
            np.repeat([epoch.progress.generation for epoch in epochs], counts),
            np.concatenate([each.source for each in arrivals]).astype(np.int32),
            np.concatenate([each.target for each in arrivals]).astype(np.int32),
            # Without the bit of infeasible costs.
            problem.scale.own_sense(problem.scale.unmarked(costs)),
            np.concatenate([each.accepted for each in arrivals]),
            np.repeat([each.bytes for each in arrivals], counts),
            np.concatenate([each.microseconds for each in arrivals]),
            np.concatenate([each.transport for each in arrivals]),
            np.concatenate([each.colonies(each.source) for each in arrivals]).astype(np.int32),
            np.concatenate([each.colonies(each.target) for each in arrivals]).astype(np.int32),
        ]


def kinds_of(spec: RunSpec) -> list[type[Record]]:
    """Return the kinds of records that a run writes."""
    return [Trace, Migrations] if spec.record.migrations else [Trace]


def _masked(numbers: Sequence[float | None], kind: type[np.generic]) -> NDArray[Any]:
    """Return numbers as a masked array for Arrow, in which None is masked."""
    unknown = [number is None for number in numbers]
    return np.ma.MaskedArray([number or 0 for number in numbers], unknown, kind)
