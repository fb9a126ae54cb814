"""Chains that propose single moves of a user-defined problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from islands.algorithms.base import Shape
from islands.algorithms.tempering.chains import Range
from islands.algorithms.tempering.ends import ClimbChains
from islands.algorithms.tempering.settings import ROUGHNESS_SAMPLES, TemperingSettings
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.backends.state import Field

if TYPE_CHECKING:
    from islands.problems.base import Problem

_SHARES = 0.002, 0.05
"""Accepted uphill moves per proposal at the coldest and the hottest temperature. With 0.2 at the
hottest, routes, cuts and flow shops were 10 to 25 % further from the best known values."""
_SHARES_STEPS = 0.002, 0.15
"""The same for steps proposed by a state, most of which are uphill. After ten seconds on two
threads, job shops were 3.2 and 3.4 % from the best known values with 0.05, and 2.6 and 1.9 % with
0.15 (ta32js, dmu42); flow shops did not differ. After only 200,000 evaluations, a shop of 20 x 10
was 3.4 % above its bound instead of 1.5 %."""
_MANY = 7000
"""Number of items from which the share at the coldest temperature falls, so that about as many
uphill moves are accepted. `models` of sparse graphs use `FlipChains`, but other problems may be
as large: with these chains and 400 million evaluations, two runs found cuts of 13876 and 13852 in a
graph of 20,000 nodes (G81). With the same share for all sizes, these were 13780 and 13792, as no
annealing found a better cut than the descent of the tuning phase; those of 10,000 nodes (G70)
differed by at most 10."""
_MOST_AT_ONCE = ROUGHNESS_SAMPLES
"""Maximum number of simultaneous proposals of a replica if the host evaluates them."""
_PROGRESS = 9  # words of `Progress` in kernels/tempering/chains/moves.cuh
_PRICE = "price"
"""The field with the violation price factor of each ladder."""


class MoveChains(ClimbChains):
    """Chains for user-defined problems."""

    header: ClassVar[Header] = Header("tempering/chains/moves.cuh")
    rungs: ClassVar[int] = 2
    cooling: ClassVar[Range] = (1e-6, 1.0)
    waits: ClassVar[bool] = True
    keeps_quota: ClassVar[bool] = True
    few_threads: ClassVar[bool] = True
    children: ClassVar[int] = _MOST_AT_ONCE
    effort: float = 4
    """A block evaluates the proposals after an accepted one again."""

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        self._proposals = problem.kind.moving(problem.chains.proposals)
        python = problem.evaluation.python
        # Python calls for moves after the accepted one would be wasted.
        self._at_once = 1 if python is not None and not python.is_batch else _MOST_AT_ONCE
        cold, hot = _SHARES
        self.shares = (cold * min(1.0, _MANY / problem.size), hot)
        if problem.chains.has_steps:
            self.shares = _SHARES_STEPS
        if problem.scale.adapts_price:
            self.price_factors = _PRICE

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        return bool(problem.chains.proposals)

    def macros(self) -> Macros:
        price = "adapting_price" if self.price_factors else "fixed_price"
        return super().macros() | {
            "TEMPERING_PRICE": Header(f"tempering/{price}.cuh"),
            "TEMPERING_LOOKS": str(self._at_once),
            **self._proposals,
        }

    def items(self, problem: Problem) -> int:
        # Each thread evaluates a proposal of its own, or the whole block evaluates one.
        return 32 if problem.evaluation.is_serial else problem.evaluation.items

    def fields(self) -> dict[str, Field]:
        size = self.shape.population
        fields = {
            "roughness": Field((size,), np.float64),
            "progress": Field((size, _PROGRESS), np.int64, kind="scratch"),
        }
        if self.price_factors:
            fields[_PRICE] = Field((self.ladders,), np.float64)
        return fields | super().fields()

    def members(self, arrays: Mapping[str, Array]) -> Struct:
        return Struct(
            progress=arrays["progress"],
            price=arrays.get(_PRICE, Null(np.float64)),
        )
