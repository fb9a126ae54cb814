"""The kernel launches of an algorithm: for the first generation, the next one, and updates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from islands.errors import UsageError


@dataclass(frozen=True)
class Shape:
    """The sizes of a rank's populations."""

    islands: int
    population: int
    pitch: int
    """Distance between two genomes in memory, in genes."""
    gene: np.dtype[Any]
    share: range | None = None
    """The slots of each island whose individuals this rank makes; None: all."""
    first_share: range | None = None
    """Those in generation 0, in which the first slots are not only copied; None: the same."""

    @property
    def individuals(self) -> int:
        """Number of individuals on all islands of the rank."""
        return self.islands * self.population

    @property
    def slots(self) -> range:
        """The slots of each island whose individuals this rank makes."""
        return range(self.population) if self.share is None else self.share

    @property
    def jobs(self) -> int:
        """Number of individuals that this rank makes in a generation."""
        return self.islands * len(self.slots)


class HostEvaluates:
    """The step at which the host evaluates the new children."""


@dataclass(frozen=True)
class TeamExchanges:
    """The step at which the ranks that share an island exchange what each has made.

    A single rank omits it.
    """

    fields: tuple[str, ...] = ()
    """The fields whose rows they exchange, a row for each slot; none: all kept ones with such rows.
    """
    renewed: tuple[str, ...] = ()
    """The fields to exchange instead if the island begins again in this generation."""


class HaloExchanges:
    """The step at which neighbouring islands exchange their ends."""


HOST_EVALUATES, HALO_EXCHANGES = HostEvaluates(), HaloExchanges()
HostStep = HostEvaluates | TeamExchanges | HaloExchanges
"""A step in which the host takes part, between launches."""


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


Step = Launch | Concurrent | HostStep


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

    @property
    def divides(self) -> bool:
        """Whether ranks can share the work on an island."""
        return any(isinstance(each, TeamExchanges) for each in self.start)

    def launches(self) -> Iterator[Launch]:
        """Yield all launches, without steps of the host."""
        for step in (*self.start, *self.generation, *self.adopt):
            if isinstance(step, Launch):
                yield step
            elif isinstance(step, Concurrent):
                yield from chain.from_iterable(step.sequences)


def loop(shape: Shape, *, outside: bool, divides: bool = True) -> Schedule:
    """Return the launches of kernels/generation.cuh: one block per individual.

    `divides`: whether ranks may share the individuals of an island.
    """

    def steps(name: str) -> tuple[Step, ...]:
        exchange = (TeamExchanges(),) if divides else ()
        size = shape.jobs
        if not outside:
            return (Launch(name, size, None), *exchange)
        made, selected = (f"{name}_{done}" for done in ("made", "selected"))
        return (
            *(Launch(made, size, None), HOST_EVALUATES, Launch(selected, size, None)),
            *exchange,
        )

    return Schedule(steps("first_generation"), steps("next_generation"))
