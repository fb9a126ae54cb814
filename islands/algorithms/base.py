"""What an algorithm is: how a generation of populations becomes the next.

An algorithm NAME brings two kernels in `kernels/algorithms/NAME.cuh`: `NAME_start` makes and
evaluates the first generation, `NAME_evolve` the next one, for all islands of a rank in one launch.
Both count how often they call the objective.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import DTypeLike

from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.settings import Settings
from islands.state import Field


class Algorithm(ABC):
    """One algorithm with its settings, for populations of one size."""

    name: ClassVar[str]
    header: ClassVar[Header]
    """Its kernel header."""
    encodings: ClassVar[tuple[str, ...]]
    """The encodings whose genomes it can move."""
    Settings: ClassVar[type[Settings]]

    needs_order: ClassVar[bool] = False
    """Whether a generation begins with individuals in order, and not with the best one alone."""
    fewest_threads: ClassVar[int] = 32
    """Below so many threads a block, a GPU would be slower."""
    loses_best: bool = False
    """Whether the best individual may be followed by a worse one, without a restart."""
    decoding: str = "free"
    """How the encoding decodes genomes; `host`: between the kernel and the ranking, by NumPy."""
    patience: int = 0
    """Generations without progress after which an island restarts; 0 means never."""
    halo: int = 0
    """How many individuals at each end of an island the next one sees; 0: islands are apart."""

    @abstractmethod
    def __init__(self, settings: Any, population: int, encoding: str) -> None:
        """Check the settings against the size of a population and the kind of its genomes."""

    @classmethod
    def completed(cls, settings: Any, encoding: str) -> Any:
        """Return its settings with what is usual for the encoding where nothing else was asked."""
        return settings

    def require_islands(self, islands: int) -> None:  # noqa: B027
        """Refuse so many islands, over all ranks, where its settings do not fit them."""

    @abstractmethod
    def defines(self) -> Macros:
        """Return the macros that the kernels are compiled with."""

    @abstractmethod
    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        """Return the settings as the kernels take them; `arrays` are those of its `fields`."""

    def fields(self, pitch: int, gene: DTypeLike) -> dict[str, Field]:
        """Return its own arrays, kept from generation to generation, for genomes of such genes."""
        return {}

    def room(self, pitch: int) -> int:
        """Return the bytes that it takes from a block's shelf for genomes of `pitch` genes."""
        return 0

    def kept(self) -> int:
        """Return how many of the best individuals pass to the next generation as they are."""
        return 0
