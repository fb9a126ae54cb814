"""A target that ends a run in the middle of a generation, if the host evaluates."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.archipelago.measure import Interpreter
from islands.parallel import World


@dataclass(frozen=True, order=True)
class Reached:
    """An individual that reaches the target; ordered by the time of its evaluation."""

    turn: int
    """The number of earlier evaluations for its slot in this generation."""
    island: int
    """The number of its island in the run."""
    slot: int
    cost: int = field(compare=False)
    genome: NDArray[Any] = field(compare=False)


class Goal:
    """Ends a run at the first solution that reaches a target."""

    def __init__(self, ends: Callable[[float], bool], world: World) -> None:
        """Take a function that returns whether the cost of a feasible solution ends the run."""
        self._ends, self._world = ends, world

    def reached(self, costs: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which costs end the run if they are feasible; costs have the objective's sign."""
        return np.array([self._ends(cost) for cost in costs.reshape(-1).tolist()], np.bool_)

    def first_in(self, costs: NDArray[np.int64], interpreter: Interpreter) -> int | None:
        """Return the index of the first cost, in the units of kernels, that ends the run."""
        reached = self.reached(interpreter.scale.user_costs(costs))
        reached &= costs < interpreter.infeasible
        return int(reached.argmax()) if reached.any() else None

    def first(self, local: Reached | None) -> Reached | None:
        """Return the first individual of all ranks that reaches the target; collective."""
        gathered = self._world.allgather(local)
        return min((reached for reached in gathered if reached is not None), default=None)
