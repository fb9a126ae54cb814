"""Resampled growth of assignments with sparse flows.

Each partial assignment begins with a random item at a random place, and grows along the flows; the
next item is the one with the largest regret (difference between its best and second-best place). At
checkpoints, the better half of a batch replaces the other half. This helps where many items have to
move together, as pairwise exchanges rarely improve such assignments.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.algorithms.base import Algorithm, Launch, Schedule, Shape
from islands.backends.arguments import Struct
from islands.backends.base import Array, scratch_bytes
from islands.backends.source import Header, Macros
from islands.backends.state import Field
from islands.errors import UsageError
from islands.settings import Settings, setting

if TYPE_CHECKING:
    from islands.problems.base import Problem
    from islands.problems.qap_sparse import Sparse

# Constants of kernels/growth.
_THREADS, _MOST_NEAR, _REACH = 512, 8, 4
_NARROW, _MOST_CHILDREN = 32, 4
_HEAD, _NUMBERS, _SHORTS = 32, 3, 7  # a state: bytes of its head, arrays of numbers and of int16

_GROWTHS_AN_ITEM, _MOST_GROWTHS = 2, 256
_MOST_SHARED = 256
"""Maximum number of items of runs that share launches. Larger runs fill a device, and only a run
with its own launches can meet its time limit."""
_MOST_SCANS = 2**26
"""Maximum number of places scanned per batch and neighbour, which takes seconds on a CPU."""
_WINDOW = 6
"""Candidates exceed the best cost by at most 1/6 of the mean distance per unit of flow."""
_SOFTNESS = 32
"""The unit of temperature is the mean product of a flow and a distance, divided by this."""
_COLDEST, _MOST_TEMPERATURE = 1 / 64, 2**52
"""The final annealing temperature relative to the mean cost change of an exchange, and the maximum
temperature in units of 1/256."""
_OFFERED = 16  # states of a batch that may enter the population


@dataclass(frozen=True)
class GrowthSettings(Settings):
    """The settings of resampled growth."""

    growths: int = setting(
        0,
        "partial assignments that an island grows in a generation, called a batch; 0: two for each"
        " item, at most 256, and fewer beyond 512 items",
        low=0,
        high=65_536,
    )
    batches: int = setting(
        4,
        "number of initial generations that all grow a batch; three out of four later generations"
        " anneal individuals instead. The default is 48 if distances violate the triangle"
        " inequality",
        low=1,
        high=1_000_000,
    )
    sweeps: int = setting(
        64,
        "exchanges per item that an annealing proposes, multiplied by the number of the generation,"
        " at most 8192; 0: no annealing",
        low=0,
        high=8192,
    )


class Growth(Algorithm):
    """Resampled growth; the population of an island consists of the best growths of its batches."""

    name: ClassVar[str] = "growth"
    header: ClassVar[Header] = Header("algorithms/growth.cuh")
    encodings: ClassVar[tuple[str, ...]] = ("permutation",)
    improves: ClassVar[bool] = False
    keeps_quota: bool = False
    may_take_long: ClassVar[bool] = True
    varies_in_length: ClassVar[bool] = True
    may_begin_partly: ClassVar[bool] = False
    needs: ClassVar[str] = "8 to 1024 items, one symmetric matrix, and few flows or distances"
    fewest_threads: ClassVar[int] = 256
    divides: ClassVar[bool | None] = False
    Settings: ClassVar[type[Settings]] = GrowthSettings

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        sparse = _sparse(problem)
        return sparse is not None and sparse.can_grow

    def prepare(self, problem: Problem, shape: Shape) -> None:
        sparse = _sparse(problem)
        assert sparse is not None, "the problem fits"
        self._sparse = sparse
        self.shares_launches = sparse.size <= _MOST_SHARED
        most = min(_MOST_GROWTHS, _MOST_SCANS // sparse.size**2)
        default = max(_OFFERED, min(_GROWTHS_AN_ITEM * sparse.size, most))
        self._growths = self.settings.growths or default
        if self._growths < _OFFERED:
            raise UsageError(
                f"growths={self._growths}: must be at least {_OFFERED}, as many as a batch offers"
                " to the population. Raise it, or leave it out"
            )

    def defines(self) -> Macros:
        return self._sparse.macros()

    def fields(self, shape: Shape) -> dict[str, Field]:
        state_bytes = _HEAD + self._sparse.pitch * (_NUMBERS * self._number_bytes + _SHORTS * 2)
        return {
            "states": Field(
                (self._growths + _OFFERED, state_bytes), np.uint8, kind="scratch", cleared=False
            )
        }

    @property
    def _number_bytes(self) -> int:
        return np.dtype(self._sparse.number).itemsize

    def numbers(self) -> Hashable:
        return self._sparse.launch_key, self._sparse.is_metric

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        sparse = _sparse(problem)
        assert problem.swaps is not None
        assert sparse is not None, "the problem fits"
        n, near, tables = sparse.size, sparse.near(_MOST_NEAR), sparse.tables()
        lists = np.zeros((n, _MOST_NEAR), np.int32)
        lists[:, : near.shape[1]] = near
        reach = sparse.nearest[:, min(_REACH, n - 1) - 1]
        return {
            **tables,
            "ones": np.ones_like(tables["flow"]),
            "steps": _steps(sparse, tables["distances"]),
            "flows": sparse.flows.astype(sparse.number),
            "near": lists,
            "reach": reach.astype(sparse.number),
            "scales": _scales(sparse, problem.swaps.unit),
        }

    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        sparse = self._sparse
        return Struct(
            network=sparse.network(arrays),
            pattern=sparse.network(
                {**arrays, "flow": arrays["ones"], "distances": arrays["steps"]}
            ),
            **{name: arrays[name] for name in ("flows", "near", "reach", "scales", "states")},
            state_bytes=np.int64(arrays["states"].shape[-1]),
            known=np.int32(min(_MOST_NEAR, sparse.size - 1)),
            growths=np.int32(self._growths),
            sweeps=np.int32(self.settings.sweeps),
            batches=np.int32(self.settings.batches),
            has_pattern=np.int32(not sparse.is_metric),
        )

    def schedule(self, shape: Shape, *, outside: bool) -> Schedule:
        def launch(kernel: str) -> tuple[Launch, ...]:
            return (Launch(kernel, shape.islands, self._room(shape), _THREADS),)

        return Schedule(launch("first_growths"), launch("next_growths"))

    def _room(self, shape: Shape) -> int:
        """Return the bytes of shared memory for costs of warps, ranked children and `Heirs`."""
        children = max(2 * self._growths, _MOST_CHILDREN * min(_NARROW, self._growths))
        ranked = 1 << (children - 1).bit_length()
        costs = _THREADS // 32 * self._sparse.pitch * self._number_bytes
        size = shape.population
        return scratch_bytes(costs, 8 * ranked, 4 * ranked, 8 * size, 8 * size, 8 * size, 4 * size)


def _sparse(problem: Problem) -> Sparse | None:
    return None if problem.swaps is None else problem.swaps.sparse


def _scales(sparse: Sparse, unit: float) -> NDArray[np.int64]:
    """Return the values of `Scale` in kernels; `unit` is the mean cost change of an exchange."""
    count, pairs = max(1, len(sparse.flow)), sparse.size * (sparse.size - 1)
    total, flows = int(sparse.nearest.sum()), int(sparse.flow.sum())
    least = int(sparse.nearest.min())
    mean = _rounded(total, pairs)
    window = max(1, _rounded(total, _WINDOW * pairs))
    softness = 256 * max(1, _rounded(total * flows, _SOFTNESS * pairs * count))
    coldest = min(_MOST_TEMPERATURE, max(16, round(_COLDEST * 256 * unit)))
    return np.array([least, mean, window, softness, coldest])


def _steps(sparse: Sparse, distances: NDArray[Any]) -> NDArray[Any]:
    """Return the distances of the pattern, in which long distances are lengthened.

    If each flow used a different pair of places, the nearest pairs would suffice. The part of a
    distance that exceeds the longest of these counts twice.
    """
    enough = len(sparse.flow) - 1
    farthest = np.partition(sparse.nearest, enough, axis=None)[enough]
    steps: NDArray[Any] = distances + np.maximum(0, distances - farthest)
    return steps.astype(distances.dtype)


def _rounded(number: int, divisor: int) -> int:
    """Return an integer quotient, rounded to nearest."""
    return (2 * number + divisor) // (2 * divisor)
