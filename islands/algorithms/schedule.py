"""What an algorithm launches: to make the first generation, the next one, and what follows both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from islands.errors import UsageError

JUDGES = "judges"
"""In a schedule, where the children that wait are judged by somebody else than a kernel."""


@dataclass(frozen=True)
class Shape:
    """The populations of a rank, as an algorithm has to know them."""

    islands: int
    population: int
    pitch: int
    """Genes from one genome to the next."""
    gene: np.dtype[Any]

    @property
    def individuals(self) -> int:
        """How many there are on all islands of the rank."""
        return self.islands * self.population


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel of the algorithm's header, with so many blocks."""

    kernel: str
    blocks: int
    room: int | None = 0
    """The bytes of working memory that a block takes; None: those of kernels/generation.cuh."""


Step = Launch | str


@dataclass(frozen=True)
class Schedule:
    """Launches in order.

    Each takes `(Arena arena, Archipelago all, problem::Data data, algorithm::Plan plan,
    improver::Plan improving)`.
    """

    start: tuple[Step, ...]
    generation: tuple[Step, ...]
    adopt: tuple[Launch, ...] = ()
    """What brings derived fields up to date, after a start, a restore or a migration, for the rows
    that `Archipelago::changed` marks."""

    def __post_init__(self) -> None:
        """Refuse what would launch nothing."""
        for name, needed in {"start": True, "generation": True, "adopt": False}.items():
            steps = getattr(self, name)
            if not isinstance(steps, tuple) or (needed and not steps):
                raise UsageError(
                    f"Schedule: {name}={steps!r}: has to be a tuple of launches. Write"
                    f' {name}=(islands.Launch("kernel", blocks),)'
                )


def loop(shape: Shape, *, outside: bool) -> Schedule:
    """Return the launches of kernels/generation.cuh: a block for each individual."""

    def steps(name: str) -> tuple[Step, ...]:
        if not outside:
            return (Launch(name, shape.individuals, None),)
        made, settled = (f"{name}_{done}" for done in ("made", "settled"))
        size = shape.individuals
        return (Launch(made, size, None), JUDGES, Launch(settled, size, None))

    return Schedule(steps("first_generation"), steps("next_generation"))
