"""What the records of a rank have in common: rows are gathered, and written in bulk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

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
    """Takes epochs; each is a few rows of `schema`."""

    folder: ClassVar[str]
    """The folder in a run's with a file a rank."""
    island: ClassVar[str]
    """The column with the island that a row belongs to."""
    is_of_now: ClassVar[bool]
    """Whether the rows of a generation tell what it is, and are written when it is gone on from."""

    def __init__(self, run: Path, rank: int, start: int, problem: Problem) -> None:
        self._problem, self._schema = problem, self.schema(problem)
        self._stream = Stream(run / self.folder, rank, start, self._schema)
        self._waiting: list[Epoch] = []
        self._waiting_rows = 0
        self._written_at = 0.0

    @staticmethod
    @abstractmethod
    def schema(problem: Problem) -> pa.Schema:
        """Return the columns for runs on a problem, whose costs may have decimals."""

    @staticmethod
    @abstractmethod
    def rows_of(epoch: Epoch) -> int:
        """Return how many rows an epoch makes."""

    @abstractmethod
    def columns(self, epochs: Sequence[Epoch]) -> list[NDArray[Any]]:
        """Return the rows of epochs, column by column."""

    def begin_with(self, earlier: pa.Table) -> None:
        """Begin with rows of an earlier start."""
        for batch in earlier.to_batches():
            self._stream.write(batch)

    def add(self, epoch: Epoch) -> None:
        """Add the rows of an epoch. It is called often, and so does next to nothing."""
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
        """Return the rows so far, all of which would survive the machine."""
        self._write()
        return self._stream.secured()

    def publish(self, metadata: Mapping[str, str]) -> None:
        """Write the Parquet file; the stream stays."""
        self._write()
        self._stream.close()
        self._stream.publish(metadata)

    def _write(self) -> None:
        import pyarrow as pa

        if self._waiting:
            schema = self._schema
            columns = self.columns(self._waiting)
            arrays = [
                _words(column) if column.dtype.kind == "U" else pa.array(column, field.type)
                for column, field in zip(columns, schema, strict=True)
            ]
            self._stream.write(pa.RecordBatch.from_arrays(arrays, schema=schema))
            self._waiting, self._waiting_rows = [], 0


def cost_type(problem: Problem) -> pa.DataType:
    """Return the type of columns of costs."""
    import pyarrow as pa

    return pa.int64() if problem.unit == 1 else pa.float64()


def _words(column: NDArray[np.str_]) -> pa.Array:
    """Return a column of few different words; Arrow takes long over NumPy's."""
    import pyarrow as pa

    words: list[str] = []
    codes = np.full(len(column), -1, np.int8)
    while (codes < 0).any():
        word = column[codes.argmin()]
        codes[column == word] = len(words)
        words.append(str(word))
    return pa.DictionaryArray.from_arrays(codes, words).cast(pa.string())


def repeated(values: Sequence[Any], counts: Sequence[int]) -> NDArray[Any]:
    """Return each value as often as its rows."""
    return np.repeat(np.array(values), counts)
