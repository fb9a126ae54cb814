"""The base class of chains: the part of tempering that depends on the form of the problem.

The kernel header of a class defines how a replica is initialised, evaluated and advanced, how two
states are crossed, and how a ladder sets its temperatures: see kernels/tempering/base.cuh.
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
"""Values for the coldest and the hottest temperature."""


class ReplicaChains(ABC):
    """The chains for a problem, in populations of one size."""

    header: ClassVar[Header]
    """The kernel header."""
    rungs: ClassVar[int] = TemperingSettings.rungs
    """The default number of rungs."""
    cooling: ClassVar[Range]
    """The range through which an island cools down, relative to the mean cost change of a move."""
    waits: ClassVar[bool] = False
    """Whether the host can evaluate proposals between launches."""
    keeps_quota: ClassVar[bool] = False
    """This and the following attributes are documented in `Algorithm`."""
    few_threads: ClassVar[bool] = False
    block: ClassVar[Block | None] = None
    children: ClassVar[int] = 1
    shares_launches: ClassVar[bool] = True
    price_factors: str = ""
    effort: float
    """The extra work that an accepted proposal counts as, in the unit of `work`."""

    def __init__(self, settings: TemperingSettings, problem: Problem, shape: Shape) -> None:
        """Derive what the other methods need from the problem and the sizes."""
        self.settings, self.shape = settings, shape

    @classmethod
    @abstractmethod
    def fits(cls, problem: Problem) -> bool:
        """Return whether these chains support the problem."""

    @property
    @abstractmethod
    def work(self) -> int:
        """The work of a replica per generation, in proposals or sweeps."""

    @classmethod
    def most_proposals(cls, settings: TemperingSettings, problem: Problem) -> int:
        """Return the maximum number of proposals per generation of chains that keep a quota."""
        return settings.proposals

    @property
    def ladders(self) -> int:
        """The number of ladders of an island."""
        return self.shape.population // self.settings.rungs

    def macros(self) -> Macros:
        """Return the macros of the header."""
        return {"TEMPERING_CHAINS": self.header}

    @abstractmethod
    def items(self, problem: Problem) -> int:
        """Return the number of work items that are distributed over the threads of a block."""

    def fields(self) -> dict[str, Field]:
        """Return the chains' own arrays of an island."""
        return {}

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        """Return the read-only arrays of an instance."""
        return {}

    @abstractmethod
    def ends(self, arrays: Mapping[str, Array]) -> Struct:
        """Return the members of the plan that set the temperatures of a ladder."""

    @abstractmethod
    def members(self, arrays: Mapping[str, Array]) -> Struct:
        """Return the members of the plan that the header declares."""

    def numbers(self) -> Hashable:
        """Return the values of members that must be equal for runs to share launches."""
        return None
