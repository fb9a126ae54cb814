"""The base of a rank's records: rows are buffered, and written in bulk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.record.stream import Extent, Stream

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_BETWEEN_WRITES = 1 << 14
_SECONDS_BETWEEN_WRITES = 1.0


class Record(ABC):
    """Records epochs as rows of `schema`."""

    folder: ClassVar[str]
    """The folder of a run with one file per rank."""
    island: ClassVar[str]
    """The column with the island of a row."""
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
        self._stream = Stream(run / self.folder, rank, start, self._schema, identity)
        self._waiting: list[Epoch] = []
        self._waiting_rows = 0
        self._written_at = 0.0
        if earlier is not None:
            for batch in earlier.to_batches():
                self._stream.write(batch)

    @classmethod
    def unwritten(cls, problem: Problem) -> Self:
        """Return a record without a file, which only converts epochs by `columns`."""
        made = cls.__new__(cls)
        made._problem = problem
        return made

    @staticmethod
    @abstractmethod
    def schema(problem: Problem) -> pa.Schema:
        """Return the columns for a problem, whose costs may have decimals."""

    @staticmethod
    @abstractmethod
    def rows_of(epoch: Epoch) -> int:
        """Return the number of rows of an epoch."""

    @abstractmethod
    def columns(self, epochs: Sequence[Epoch]) -> list[NDArray[Any]]:
        """Return the rows of epochs as columns."""

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
            self._stream.write(batch_of(self.columns(self._waiting), self._schema))
            self._waiting, self._waiting_rows = [], 0


def batch_of(columns: Sequence[NDArray[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Return columns of NumPy arrays as an Arrow batch."""
    import pyarrow as pa

    arrays = [
        _words(column) if column.dtype.kind == "U" else pa.array(column, field.type)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def cost_type(problem: Problem) -> pa.DataType:
    """Return the column type of costs."""
    import pyarrow as pa

    return pa.int64() if problem.unit == 1 and not problem.real else pa.float64()


def _words(column: NDArray[np.str_]) -> pa.Array:
    """Return a text column with few distinct values; Arrow converts NumPy text slowly."""
    import pyarrow as pa

    words: list[str] = []
    codes = np.full(len(column), -1, np.int8)
    while (codes < 0).any():
        word = column[codes.argmin()]
        codes[column == word] = len(words)
        words.append(str(word))
    return pa.array(np.array(words, object)[codes], pa.string())


def prepare_arrow() -> None:
    """Let Arrow import now what it imports at its first conversion: pandas, where it is installed.

    This takes a quarter of a second, which would count as time of the search.
    """
    import pyarrow as pa

    pa.array(np.zeros(1))
