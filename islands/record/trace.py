"""The trace of one rank: a row per island and epoch, in `trace/rank-000.parquet`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.record.folder import TRACE
from islands.record.record import Record, cost_type

if TYPE_CHECKING:
    import pyarrow as pa


class Trace(Record):
    """Records the measures of one rank's islands; costs have the sign of the objective.

    The best cost of an island without a feasible solution is null.
    """

    folder: ClassVar[str] = TRACE
    island: ClassVar[str] = "island"
    is_of_now: ClassVar[bool] = True

    @staticmethod
    def schema(problem: Problem) -> pa.Schema:
        """Return the columns."""
        import pyarrow as pa

        whole, real, cost = pa.int64(), pa.float64(), cost_type(problem)
        return pa.schema(
            [
                ("island", pa.int32()),
                ("generation", whole),
                ("seconds", real),
                ("best", cost),
                ("mean", real),
                ("worst", cost),
                ("best_generation", whole),
                ("evaluations", whole),
                ("distance", real),
                ("distinct", real),
                ("colony", pa.int32()),
            ]
        )

    @staticmethod
    def rows_of(epoch: Epoch) -> int:
        """Return the number of islands."""
        return len(epoch.measures)

    def columns(self, epochs: Sequence[Epoch]) -> list[NDArray[Any]]:
        """Return one row per island and epoch."""
        own = self._problem.own_sense
        counts = [len(epoch.measures) for epoch in epochs]
        measures = [measure for epoch in epochs for measure in epoch.measures]
        return [
            np.array([measure.island for measure in measures], np.int32),
            np.repeat([epoch.progress.generation for epoch in epochs], counts),
            np.repeat([epoch.progress.seconds for epoch in epochs], counts),
            own(_known([measure.best for measure in measures])),
            self._problem.own_mean(np.array([measure.mean for measure in measures])),
            own(np.array([measure.worst for measure in measures])),
            np.array([measure.best_generation for measure in measures]),
            np.array([measure.evaluations for measure in measures]),
            _distances([measure.distance for measure in measures]),
            np.array([measure.distinct for measure in measures]),
            np.array([measure.colony for measure in measures], np.int32),
        ]


def _distances(numbers: Sequence[float | None]) -> np.ma.MaskedArray[Any, Any]:
    unknown = [number is None for number in numbers]
    return np.ma.MaskedArray([number or 0.0 for number in numbers], unknown, np.float64)


def _known(numbers: Sequence[int | None]) -> np.ma.MaskedArray[Any, Any]:
    """Return numbers as a masked array for Arrow, in which None is masked."""
    unknown = [number is None for number in numbers]
    return np.ma.MaskedArray([number or 0 for number in numbers], unknown, np.int64)
