"""The rows of a run's records, in one file per rank: of its trace, and of its migrations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.configuration.spec import RunSpec
from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.record.folder import MIGRATIONS, TRACE
from islands.record.record import Record, cost_type

if TYPE_CHECKING:
    import pyarrow as pa


class Trace(Record):
    """A row per island and epoch, with its measures; costs have the sign of the objective.

    The best cost of an island without a feasible solution is null.
    """

    folder: ClassVar[str] = TRACE
    island: ClassVar[str] = "island"
    describes_state: ClassVar[bool] = True

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


class Migrations(Record):
    """A row per migrant that arrived; costs have the sign of the objective."""

    folder: ClassVar[str] = MIGRATIONS
    island: ClassVar[str] = "to"
    describes_state: ClassVar[bool] = False

    @staticmethod
    def schema(problem: Problem) -> pa.Schema:
        """Return the columns."""
        import pyarrow as pa

        return pa.schema(
            [
                ("epoch", pa.int64()),
                ("generation", pa.int64()),
                ("from", pa.int32()),
                ("to", pa.int32()),
                ("cost", cost_type(problem)),
                ("accepted", pa.bool_()),
                ("bytes", pa.int64()),
                ("microseconds", pa.float64()),
                ("transport", pa.string()),
                ("from_colony", pa.int32()),
                ("to_colony", pa.int32()),
            ]
        )

    @staticmethod
    def rows_of(epoch: Epoch) -> int:
        """Return the number of migrants that arrived."""
        return len(epoch.arrivals.cost) if epoch.arrivals is not None else 0

    def columns(self, epochs: Sequence[Epoch]) -> list[NDArray[Any]]:
        """Return one row per arrival, ordered by receiving island."""
        arrivals = [epoch.arrivals for epoch in epochs if epoch.arrivals is not None]
        counts = [len(each.cost) for each in arrivals]
        return [
            np.repeat([each.number for each in arrivals], counts),
            np.repeat([epoch.progress.generation for epoch in epochs], counts),
            np.concatenate([each.source for each in arrivals]).astype(np.int32),
            np.concatenate([each.target for each in arrivals]).astype(np.int32),
            self._own_sense(np.concatenate([each.cost for each in arrivals])),
            np.concatenate([each.accepted for each in arrivals]),
            np.repeat([each.bytes for each in arrivals], counts),
            np.concatenate([each.microseconds for each in arrivals]),
            np.concatenate([each.transport for each in arrivals]),
            np.concatenate([each.colonies(each.source) for each in arrivals]).astype(np.int32),
            np.concatenate([each.colonies(each.target) for each in arrivals]).astype(np.int32),
        ]

    def _own_sense(self, costs: NDArray[np.int64]) -> NDArray[Any]:
        """Return costs with the sign of the objective, without the bit of infeasible ones."""
        own: NDArray[Any] = self._problem.own_sense(costs >> 1 if self._problem.marks else costs)
        return own


def records(spec: RunSpec) -> list[type[Record]]:
    """Return the record classes that a run uses."""
    return [Trace, Migrations] if spec.record.migrations else [Trace]


def _distances(numbers: Sequence[float | None]) -> np.ma.MaskedArray[Any, Any]:
    unknown = [number is None for number in numbers]
    return np.ma.MaskedArray([number or 0.0 for number in numbers], unknown, np.float64)


def _known(numbers: Sequence[int | None]) -> np.ma.MaskedArray[Any, Any]:
    """Return numbers as a masked array for Arrow, in which None is masked."""
    unknown = [number is None for number in numbers]
    return np.ma.MaskedArray([number or 0 for number in numbers], unknown, np.int64)
