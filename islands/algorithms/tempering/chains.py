"""The base class of chains: what tempering does differently for each form of problem.

The kernel header of a class says how a replica is drawn, evaluated and advanced, how two states
have a child, and how a ladder sets its temperatures: see kernels/tempering/base.cuh.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from islands.algorithms.base import Shape
from islands.algorithms.tempering.settings import TemperingSettings
from islands.backends.arguments import Struct
from islands.backends.base import Array, Block
from islands.backends.source import Header, Macros
from islands.backends.state import Field

if TYPE_CHECKING:
    from islands.problems.base import Problem

Range = tuple[float, float]
"""A number for the coldest temperature, and one for the hottest."""


class ReplicaChains(ABC):
    """The chains of the replicas that search a problem, in populations of one size."""

    header: ClassVar[Header]
    """Its kernel header."""
    rungs: ClassVar[int] = TemperingSettings.rungs
    """The default number of rungs."""
    wide: ClassVar[Range]
    """The temperatures between which an island cools down, relative to the mean change of the cost.
    """
    waits: ClassVar[bool] = False
    """Whether proposals can be evaluated between two launches."""
    few_threads: ClassVar[bool] = False
    """The next ones are attributes of `Algorithm`, which describes them."""
    block: ClassVar[Block | None] = None
    children: ClassVar[int] = 1
    shares_launches: ClassVar[bool] = True
    price_factors: str = ""
    effort: float
    """The work as which an accepted proposal counts, in units of `work` or sweeps."""

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        """Take from the problem and the sizes what the other methods need."""
        self.settings, self.shape = settings, shape

    @classmethod
    @abstractmethod
    def fits(cls, problem: Problem) -> bool:
        """Return whether replicas search the problem by these chains."""

    @property
    @abstractmethod
    def work(self) -> int:
        """The work of a replica per generation."""

    @property
    def ladders(self) -> int:
        """The number of ladders of an island."""
        return self.shape.population // self.settings.rungs

    def macros(self) -> Macros:
        """Return the macros of its header."""
        return {"TEMPERING_CHAINS": self.header}

    @abstractmethod
    def items(self, problem: Problem) -> int:
        """Return the number of work items that the threads of a block share."""

    def fields(self) -> dict[str, Field]:
        """Return its own arrays of an island."""
        return {}

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        """Return the read-only arrays of an instance."""
        return {}

    @abstractmethod
    def ends(self, arrays: Mapping[str, Array]) -> Struct:
        """Return the members of the plan by which a ladder sets its temperatures."""

    @abstractmethod
    def members(self, arrays: Mapping[str, Array]) -> Struct:
        """Return the members of the plan for its header."""

    def numbers(self) -> Hashable:
        """Return the numbers among them by which instances differ that may share launches."""
        return None
