"""What an algorithm is: how a generation of populations becomes the next.

Its kernel header brings the settings as kernels take them, `algorithm::Plan`, and mostly a class
`algorithm::Mover` (see kernels/algorithms/base.cuh), which kernels/generation.cuh leads through the
slots of a population. One with kernels of its own says when they are launched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from islands.algorithms.schedule import Schedule, Shape, loop
from islands.backends.arguments import Struct
from islands.backends.base import Array
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.backends.state import Field
from islands.settings import NoSettings, Settings

if TYPE_CHECKING:
    from islands.problems.base import Problem


class Algorithm(ABC):
    """One algorithm with its settings, for populations of one size."""

    name: ClassVar[str]
    header: ClassVar[Header]
    """Its kernel header."""
    encodings: ClassVar[tuple[str, ...]]
    """The encodings whose genomes it can move."""
    Settings: ClassVar[type[Settings]] = NoSettings

    needs_order: ClassVar[bool] = False
    """Whether a generation begins with individuals in order, and not with the best one alone."""
    fewest_threads: ClassVar[int] = 32
    """Below so many threads a block, a GPU would be slower."""
    children: ClassVar[int] = 1
    """`CHILDREN` of its mover: how many are made at once for a slot."""
    decodings: ClassVar[tuple[str, ...]] = ()
    """How the keys that it makes may be decoded, the usual way first; none: as any keys are."""
    loses_best: bool = False
    """Whether the best individual may be followed by a worse one, without a restart."""
    patience: int = 0
    """Generations without progress after which an island restarts; 0 means never."""
    halo: int = 0
    """How many individuals at each end of an island the next one sees; 0: islands are apart."""

    def __init__(self, settings: Any = None, population: int = 0, encoding: str = "") -> None:
        """Check the settings against the size of a population and the kind of its genomes.

        A script may make one of nothing, which stands for its class.
        """
        self.settings, self.population, self.encoding = settings, population, encoding

    @classmethod
    def completed(cls, settings: Any, encoding: str) -> Any:
        """Return its settings with what is usual for the encoding where nothing else was asked."""
        return settings

    def require_islands(self, islands: int) -> None:  # noqa: B027
        """Refuse so many islands, over all ranks, where its settings do not fit them."""

    def defines(self) -> Macros:
        """Return the macros that the kernels are compiled with."""
        return {}

    @abstractmethod
    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        """Return `algorithm::Plan`; `arrays` are its fields, and the tables that it asked for."""

    def fields(self, shape: Shape) -> dict[str, Field]:
        """Return its own arrays, by names that no other array of an island has."""
        return {}

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        """Return what all islands share and no kernel writes, such as lists of neighbours."""
        return {}

    def schedule(self, shape: Shape, *, outside: bool) -> Schedule:
        """Return its launches; where somebody `outside` judges, with a step for it."""
        return loop(shape, outside=outside)

    def room(self, pitch: int) -> int:
        """Return the bytes of scratch memory it takes besides what its mover declares."""
        return 0

    def kept(self) -> int:
        """Return how many of the best individuals pass to the next generation as they are."""
        return 0
