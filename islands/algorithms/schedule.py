"""The kernel launches of an algorithm: for the first generation, the next one, and updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from islands.errors import UsageError

HOST_EVALUATES = "host evaluates"
"""The step of a schedule at which the host evaluates the new children."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a rank's populations."""

    islands: int
    population: int
    pitch: int
    """Distance between two genomes in memory, in genes."""
    gene: np.dtype[Any]

    @property
    def individuals(self) -> int:
        """Number of individuals on all islands of the rank."""
        return self.islands * self.population


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel of the algorithm's header."""

    kernel: str
    blocks: int
    room: int | None = 0
    """Bytes of scratch memory per block; None: as much as kernels/generation.cuh needs."""
    threads: int | None = None
    """Threads per block on a GPU, for a kernel with `KERNEL_OF`, which then has its own `room`;
    None: those of the program, with the largest room of its launches."""
    plan: tuple[tuple[str, Any], ...] = ()
    """Members of the algorithm's plan with values that only this launch has."""


@dataclass(frozen=True)
class Concurrent:
    """Sequences of launches that do not depend on each other: a GPU may run them at once."""

    sequences: tuple[tuple[Launch, ...], ...]


Step = Launch | Concurrent | str


@dataclass(frozen=True)
class Schedule:
    """Launches in order.

    Each kernel has the parameters `(Arena arena, Archipelago all, problem::Data data,
    algorithm::Plan plan, improver::Plan improving)`.
    """

    start: tuple[Step, ...]
    generation: tuple[Step, ...]
    adopt: tuple[Launch, ...] = ()
    """Launches that update derived fields of the rows marked in `Archipelago::changed`, after a
    start, a restore or a migration."""

    def __post_init__(self) -> None:
        """Refuse a schedule without launches."""
        for name, needed in {"start": True, "generation": True, "adopt": False}.items():
            steps = getattr(self, name)
            if not isinstance(steps, tuple) or (needed and not steps):
                raise UsageError(
                    f"Schedule: {name}={steps!r}: must be a tuple of launches. Write"
                    f' {name}=(islands.Launch("kernel", blocks),)'
                )

    def launches(self) -> Iterator[Launch]:
        """Yield all launches, without steps of the host."""
        for step in (*self.start, *self.generation, *self.adopt):
            if isinstance(step, Launch):
                yield step
            elif isinstance(step, Concurrent):
                yield from chain.from_iterable(step.sequences)


def loop(shape: Shape, *, outside: bool) -> Schedule:
    """Return the launches of kernels/generation.cuh: one block per individual."""

    def steps(name: str) -> tuple[Step, ...]:
        if not outside:
            return (Launch(name, shape.individuals, None),)
        made, selected = (f"{name}_{done}" for done in ("made", "selected"))
        size = shape.individuals
        return (Launch(made, size, None), HOST_EVALUATES, Launch(selected, size, None))

    return Schedule(steps("first_generation"), steps("next_generation"))
