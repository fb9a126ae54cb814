"""What an algorithm is: how a generation of populations becomes the next.

An algorithm NAME brings two kernels in `kernels/algorithms/NAME.cuh`: `NAME_start` makes and
evaluates the first generation, `NAME_evolve` the next one, for all islands of a rank in one launch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from islands.backends.arguments import Struct
from islands.settings import Settings


class Algorithm(ABC):
    """One algorithm with its settings, for populations of one size."""

    name: ClassVar[str]
    encodings: ClassVar[tuple[str, ...]]
    """The encodings whose genomes it can move."""
    Settings: ClassVar[type[Settings]]

    decoding: str = "sorted"
    """How the encoding decodes genomes; `host`: between the kernel and the ranking, by NumPy."""
    patience: int = 0
    """Generations without progress after which an island restarts; 0 means never."""

    @abstractmethod
    def __init__(self, settings: Any, population: int) -> None:
        """Check the settings against the size of a population."""

    @abstractmethod
    def defines(self) -> dict[str, str]:
        """Return the macros that the kernels are compiled with."""

    @abstractmethod
    def plan(self) -> Struct:
        """Return the last argument of `NAME_evolve`."""

    @abstractmethod
    def kept(self) -> int:
        """Return how many of the best individuals pass to the next generation as they are."""
