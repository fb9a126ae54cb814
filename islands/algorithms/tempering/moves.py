"""Chains that propose single moves of a user's own problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from islands.algorithms.base import Shape
from islands.algorithms.tempering.chains import Range
from islands.algorithms.tempering.ends import ClimbChains
from islands.algorithms.tempering.settings import MOVES, TemperingSettings
from islands.backends.arguments import Null, Struct
from islands.backends.base import Array
from islands.backends.source import Header, Macros
from islands.backends.state import Field

if TYPE_CHECKING:
    from islands.problems.base import Problem

_SHARES = 0.002, 0.05
"""The accepted climbs of a proposal at the coldest and the hottest temperature. With 0.2 at the
hottest, routes, cuts and flow shops were 10 to 25 % further from the best known values."""
_SHARES_STEPS = 0.002, 0.15
"""The same for steps that a state proposes, most of which climb: after ten seconds on two threads,
job shops were 3.2 and 3.4 % from the best known values with 0.05, and 2.6 and 1.9 % with 0.15
(ta32js, dmu42); flow shops were alike. After only 200,000 evaluations, a shop of 20 x 10 was 3.4 %
above its bound instead of 1.5 %."""
_GUESSES = 32
"""Number of moves that a replica proposes at once if others evaluate them; at least the samples of
the first generation."""
_PROGRESS = 7  # words of `Progress` of kernels/tempering/chains/moves.cuh
_MANY_TO_MOVE = 500
"""Number of items from which a CPU has one island: chains need many moves. Fewer items gain from
migration: after 5 to 8 million evaluations, four islands were 0.3 to 0.5 % better on la25 and on a
flow shop of 50 jobs, but after 450,000 0.5 and 1.2 % worse on the cuts of G1 and G22."""
_MOVES_AN_ITEM, _MOST_MOVES = 40, 1_000_000
"""Proposals of a replica per generation for each item, with a state, and the most: the state is
prepared in each generation, which takes as long as many moves."""
_STEPS_AN_ITEM_GPU = 2
"""The same for steps that a state proposes, with a GPU, where a chain of a shop is a tenth as fast:
when job shops annealed, dmu46, dmu67, ta34js and ta49js were 3.6 % from the best known values in
the mean after eight seconds on an H200, 4.3 with 4 and 4.6 with 8."""
_PATIENCE_CROSS = 10
"""Generations without improvement before a ladder is renewed by a crossover of the problem, on a
CPU; as many proposals on a GPU. Random graphs of 500 nodes needed 49 or 50 colours with 5, 10 and
20, which is no difference."""
_PRICE = "price"
"""The field with the factor of the price of violations, of each ladder."""


class MoveChains(ClimbChains):
    """Chains of a user's own problem."""

    header: ClassVar[Header] = Header("tempering/chains/moves.cuh")
    usual: ClassVar[Mapping[str, Any]] = {
        "rungs": 2,
        "tuning": 48,
        "cycle": 100,
        "migration.topology": "ring",
        "migration.interval": 100,
        "migration.migrants": 1,
    }
    wide: ClassVar[Range] = (1e-6, 1.0)
    waits: ClassVar[bool] = True
    few_threads: ClassVar[bool] = True
    children: ClassVar[int] = _GUESSES
    effort: float = 4
    """A block looks again at the proposals after an accepted one."""

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        super().__init__(settings, problem, shape)
        self._stated = problem.kind.moving(problem.chains.proposals)
        self.shares = _SHARES_STEPS if problem.chains.has_steps else _SHARES
        if problem.scale.adapts_price:
            self.price_factors = _PRICE

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        return bool(problem.chains.proposals)

    @classmethod
    def defaults(cls, problem: Problem, gpus: Callable[[], int]) -> dict[str, Any]:
        # Costs in Python take most of the time, also with a GPU.
        is_many = problem.evaluation.python is None and gpus() > 0
        few = 4 if problem.size < _MANY_TO_MOVE else 1
        found = {"islands": 16 if is_many else few, "population": 16 if is_many else 2, **cls.usual}
        has_slow_steps = is_many and problem.chains.has_steps
        an_item = _STEPS_AN_ITEM_GPU if has_slow_steps else _MOVES_AN_ITEM
        if problem.chains.has_state:
            found["proposals"] = min(_MOST_MOVES, max(MOVES, an_item * problem.size))
        if problem.chains.has_cross:
            found["patience"] = _PATIENCE_CROSS * _MOVES_AN_ITEM // an_item
        return found

    def macros(self) -> Macros:
        price = "adapting_price" if self.price_factors else "fixed_price"
        return super().macros() | {
            "TEMPERING_PRICE": Header(f"tempering/{price}.cuh"),
            **self._stated,
        }

    def items(self, problem: Problem) -> int:
        # Each thread evaluates a proposal, or all of them one.
        return 32 if problem.evaluation.is_serial else problem.evaluation.items

    def fields(self) -> dict[str, Field]:
        size = self.shape.population
        found = {
            "roughness": Field((size,), np.float64),
            "progress": Field((size, _PROGRESS), np.int64, kind="scratch"),
        }
        if self.price_factors:
            found[_PRICE] = Field((self.ladders,), np.float64)
        return found | super().fields()

    def members(self, arrays: Mapping[str, Array]) -> Struct:
        return Struct(
            progress=arrays["progress"],
            price=arrays.get(_PRICE, Null(np.float64)),
        )
