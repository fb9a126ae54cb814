"""The migrations of one rank: a row per immigrant, in `migrations/rank-000.parquet`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.problems.base import Problem
from islands.progress.progress import Epoch
from islands.record.folder import MIGRATIONS
from islands.record.record import Record, cost_type

if TYPE_CHECKING:
    import pyarrow as pa


class Migrations(Record):
    """Records the arrivals on one rank's islands; costs have the sign of the objective."""

    folder: ClassVar[str] = MIGRATIONS
    island: ClassVar[str] = "to"
    is_of_now: ClassVar[bool] = False

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
