"""The trace of one rank: a row an island an epoch, in `trace/rank-000.parquet`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.run.epochs import Epoch
from islands.run.folder import TRACE
from islands.run.record import Record, repeated

if TYPE_CHECKING:
    import pyarrow as pa


class Trace(Record):
    """Takes the measures of one rank's islands, in the instance's own sense of cost."""

    folder: ClassVar[str] = TRACE
    island: ClassVar[str] = "island"
    is_of_now: ClassVar[bool] = True

    @staticmethod
    def schema() -> pa.Schema:
        """Return the columns."""
        import pyarrow as pa

        whole, real = pa.int64(), pa.float64()
        return pa.schema(
            [
                ("island", pa.int32()),
                ("generation", whole),
                ("seconds", real),
                ("best", whole),
                ("mean", real),
                ("worst", whole),
                ("best_generation", whole),
                ("evaluations", whole),
            ]
        )

    @staticmethod
    def rows_of(epoch: Epoch) -> int:
        """Return how many islands there are."""
        return len(epoch.measures)

    def columns(self, epochs: Sequence[Epoch]) -> list[NDArray[Any]]:
        """Return a row an island an epoch."""
        counts = [len(epoch.measures) for epoch in epochs]
        measures = [measure for epoch in epochs for measure in epoch.measures]
        return [
            np.array([measure.island for measure in measures], np.int32),
            repeated([epoch.progress.generation for epoch in epochs], counts),
            repeated([epoch.progress.seconds for epoch in epochs], counts),
            self._sign * np.array([measure.best for measure in measures]),
            self._sign * np.array([measure.mean for measure in measures]),
            self._sign * np.array([measure.worst for measure in measures]),
            np.array([measure.best_generation for measure in measures]),
            np.array([measure.evaluations for measure in measures]),
        ]
