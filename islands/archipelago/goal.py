"""The target of a run whose function is called for one solution after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import Meaning
from islands.parallel import World


@dataclass(frozen=True, order=True)
class Reached:
    """An individual that reaches the target, and where it was made."""

    turn: int
    """The number of evaluations that its slot has waited for in this generation."""
    island: int
    """The number of its island in the run."""
    slot: int
    cost: int = field(compare=False)
    genome: NDArray[Any] = field(compare=False)


class Goal:
    """Costs at which a run ends, at the call that finds the first of them."""

    def __init__(self, ends: Callable[[float], bool], world: World) -> None:
        """Let a feasible solution end the run if its cost `ends` it."""
        self._ends, self._world = ends, world

    def reached(self, costs: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which costs, as a function returns them, end the run if they are feasible."""
        return np.array([self._ends(each) for each in costs.reshape(-1).tolist()], np.bool_)

    def found(self, costs: NDArray[np.int64], meaning: Meaning) -> int | None:
        """Return the number of the first cost on the device that ends the run."""
        reached = self.reached(meaning.scale.own_sense(costs)) & (costs < meaning.infeasible)
        return int(reached.argmax()) if reached.any() else None

    def first(self, own: Reached | None) -> Reached | None:
        """Return the first individual of all ranks that reaches a target; collective."""
        found = self._world.allgather(own) if self._world.size > 1 else [own]
        return min((each for each in found if each is not None), default=None)
