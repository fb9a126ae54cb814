"""The base class of algorithms: how one generation of the populations becomes the next.

The kernel header of an algorithm defines `algorithm::Plan`, the settings as kernels read them, and
usually a class `algorithm::Mover` (see kernels/algorithms/base.cuh), which kernels/generation.cuh
calls for each slot of a population. An algorithm with its own kernels also defines their launches.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.backends.arguments import Struct
from islands.backends.base import Array, Block
from islands.backends.source import Header, Macros
from islands.backends.state import Field
from islands.errors import UsageError
from islands.settings import NoSettings, Settings, setting

if TYPE_CHECKING:
    from islands.problems.base import Problem


@dataclass(frozen=True)
class Shape:
    """The sizes of a rank's populations.

    >>> islands.Shape(islands=4, population=64, pitch=32, gene=np.dtype(np.int32)).individuals
    256
    """

    islands: int
    population: int
    pitch: int
    """Distance between two genomes in memory, in genes."""
    gene: np.dtype[Any]
    made: range | None = None
    """The slots of each island whose individuals this rank makes; None: all."""
    first_made: range | None = None
    """The same for generation 0, in which no slot is merely copied; None: as `made`."""

    @property
    def individuals(self) -> int:
        """Number of individuals on all islands of the rank."""
        return self.islands * self.population

    @property
    def slots(self) -> range:
        """The slots of each island whose individuals this rank makes."""
        return range(self.population) if self.made is None else self.made

    @property
    def jobs(self) -> int:
        """Number of individuals that this rank makes in a generation."""
        return self.islands * len(self.slots)


class Host(Enum):
    """A step of the host alone."""

    EVALUATES = "evaluates the new children"
    EXCHANGES_HALO = "exchanges the ends of neighbouring islands"


@dataclass(frozen=True)
class TeamExchanges:
    """The step at which the ranks that share an island exchange what each has made.

    Omitted with a single rank.
    """

    fields: tuple[str, ...] = ()
    """Fields to exchange, with a row for each slot; empty: all kept fields with such rows."""
    renewed: tuple[str, ...] = ()
    """Fields to exchange instead if the island restarts in this generation."""


HostStep = Host | TeamExchanges
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


@dataclass(frozen=True)
class Rounds:
    """Launches that are repeated, each time after the host has evaluated the waiting moves.

    They end when no move is waiting.
    """

    launches: tuple[Launch, ...]


Step = Launch | Concurrent | Rounds | HostStep


@dataclass(frozen=True)
class Schedule:
    """Launches in order.

    Each kernel has the parameters `(Arena arena, Islands all, problem::Data data,
    algorithm::Plan plan, improver::Plan improving)`.
    """

    start: tuple[Step, ...]
    generation: tuple[Step, ...]
    adopt: tuple[Launch, ...] = ()
    """Launches that update derived fields of the rows marked in `Islands::changed`, after a
    start, a restore or a migration. They must not change other rows: islands of other runs may
    take part in the same launch."""

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
    def evaluates_outside(self) -> bool:
        """Whether the host evaluates children in each generation."""
        return any(each is Host.EVALUATES or isinstance(each, Rounds) for each in self.generation)

    @property
    def divides(self) -> bool:
        """Whether ranks can share the work on an island."""
        return any(isinstance(each, TeamExchanges) for each in self.start)

    def launches(self) -> Iterator[Launch]:
        """Yield all launches, without steps of the host."""
        for step in (*self.start, *self.generation, *self.adopt):
            if isinstance(step, Launch):
                yield step
            elif isinstance(step, Rounds):
                yield from step.launches
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
            *(Launch(made, size, None), Host.EVALUATES, Launch(selected, size, None)),
            *exchange,
        )

    return Schedule(steps("first_generation"), steps("next_generation"))


NEIGHBOURS = "neighbours of items"
"""The key of `Neighbours` of kernels/tours among the arrays; no field or table has this name."""


def reset_setting() -> Any:
    """Declare the setting `reset`, the patience of an algorithm."""
    words = "generations without improvement before an island restarts; 0: never"
    return setting(0, words, low=0, high=2**62)


class Algorithm(ABC):
    """One algorithm with its settings, for populations of one size."""

    name: ClassVar[str]
    header: ClassVar[Header]
    """Its kernel header."""
    encodings: ClassVar[tuple[str, ...]]
    """The encodings that it supports."""
    Settings: ClassVar[type[Settings]] = NoSettings

    uses_neighbours: ClassVar[bool] = False
    """Whether it needs the neighbours of each item; `plan` receives them as `NEIGHBOURS`."""
    needs: ClassVar[str] = "distances between cities"
    """What the problem must provide, as named in the error message."""
    varies_in_length: ClassVar[bool] = False
    """Whether a generation may take many times longer than the previous one."""
    needs_order: ClassVar[bool] = False
    """Whether each generation needs the individuals in order of cost, not only the best one."""
    fewest_threads: ClassVar[int] = 32
    """Minimum number of threads per block for good speed on a GPU."""
    slow_to_compile: ClassVar[tuple[str, ...]] = ()
    """Kernels that take a large part of the compile time, the longest first; they are compiled in
    parallel."""
    few_threads: bool = False
    """Whether the threads of a block wait for each other so often that small blocks are faster on
    a GPU."""
    block: Block | None = None
    """The threads for which its kernels were written, and the maximum number of blocks that share a
    multiprocessor of a GPU; None: any. May depend on the problem."""
    children: int = 1
    """`CHILDREN` of its mover: number of children that it makes at once for a slot."""
    decodings: ClassVar[tuple[str, ...]] = ()
    """The ways to decode the keys that it makes, the default first; empty: any keys are allowed."""
    improves: ClassVar[bool] = True
    """Whether an improver can improve its individuals; False if it does so itself."""
    shares_launches: bool = True
    """Whether runs on other instances may share its launches."""
    may_take_long: ClassVar[bool] = False
    """Whether a generation may take seconds on a GPU, so that time limits have to abandon it."""
    may_begin_partly: ClassVar[bool] = True
    """Whether generation 0 may be incomplete if the limit of evaluations is too low for it."""
    most_first_calls: ClassVar[int] = 1
    """Maximum number of evaluations of an individual in generation 0."""
    keeps_quota: bool = True
    """Whether an island ends a generation when its quota of evaluations is used up."""
    same_slots: bool = False
    """Whether all generations make children for the same slots, except the first generation and
    restarts."""
    loses_best: bool = False
    """Whether an island may lose its best individual without a restart."""
    price_factors: str = ""
    """The field with factors of the price of violations, each for an equal number of consecutive
    slots; empty: the price is constant. May depend on the problem."""
    patience: int = 0
    """Generations without improvement before an island restarts; 0: never."""
    divides: ClassVar[bool | None] = None
    """Whether ranks may share the individuals of an island. None: only if all fields have an entry
    for each individual, as each rank would see only its own changes of other fields."""
    grows_by_islands: ClassVar[bool] = True
    """Whether the default number of islands grows with that of GPUs, or they share the same."""
    halo: int = 0
    """Number of individuals at each end of an island that the next island reads; 0: no halo."""

    def __init__(self, settings: Any = None, population: int = 0, encoding: str = "") -> None:
        """Check the settings against the population size and the encoding.

        A script may create an instance without arguments to represent the class.
        """
        self.settings, self.population, self.encoding = settings, population, encoding

    @classmethod
    def standstill(cls, settings: Any, population: int, size: int, *, is_warm: bool) -> int:
        """Return the number of generations without improvement after which it has converged.

        `is_warm`: the run starts from given solutions.
        """
        return population

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        """Return whether it can solve a problem that has one of its encodings."""
        return problem.near is not None or not cls.uses_neighbours

    @classmethod
    def reads(cls, problem: Problem, encoding: str) -> bool:
        """Return whether it can solve a problem that it `fits` with one of its encodings."""
        return True

    @classmethod
    def takes(cls, problem: Problem, given: Mapping[str, Any]) -> bool:
        """Return whether it accepts a combination of settings, by name; defaults always fit."""
        return True

    @classmethod
    def completed(cls, settings: Any, encoding: str) -> Any:
        """Return the settings with the encoding's defaults for those that were not set."""
        return settings

    @classmethod
    def confined(cls, settings: Any) -> Any:
        """Return the settings for a bounded encoding; refuse those that do not fit its range."""
        return settings

    def prepare(self, problem: Problem, shape: Shape) -> None:  # noqa: B027
        """Derive what the other methods need from the problem and the sizes of the populations."""

    def require_islands(self, islands: int) -> None:  # noqa: B027
        """Refuse a number of islands, over all ranks, that does not fit the settings."""

    def require_problem(self, problem: Problem) -> None:  # noqa: B027
        """Refuse a problem that does not fit the settings."""

    def defines(self) -> Macros:
        """Return the macros for the compilation of the kernels."""
        return {}

    @abstractmethod
    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        """Return `algorithm::Plan`; `arrays` contains its fields and tables."""

    def fields(self, shape: Shape) -> dict[str, Field]:
        """Return its own arrays of an island; no other array may have the same name."""
        return {}

    def numbers(self) -> Hashable:
        """Return the numbers of its plan by which instances differ that may share launches."""
        return None

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        """Return read-only arrays that all islands share, such as lists of neighbours."""
        return {}

    def schedule(self, shape: Shape, *, outside: bool) -> Schedule:
        """Return its launches; with `outside`, including the steps for evaluation by the host."""
        return loop(shape, outside=outside, divides=self._divides(shape))

    def _divides(self, shape: Shape) -> bool:
        if self.divides is not None:
            return self.divides
        fields = [each for each in self.fields(shape).values() if each.kind != "scratch"]
        return all(each.shape[:1] == (shape.population,) for each in fields)

    def are_renewed(self, read: Callable[[str], NDArray[Any]]) -> list[bool]:
        """Return for each island of the rank whether the generation in progress restarts it.

        `read` returns a field. This is only called if ranks share the islands and the schedule has
        fields that they exchange in this case.
        """
        return []

    @classmethod
    def shares_all(cls, problem: Problem) -> bool:
        """Return whether ranks share all islands instead of dealing them.

        This pays off if generations take long and differ in length: ranks with islands of their
        own would wait for each other.
        """
        return False

    @classmethod
    def most_calls(cls, settings: Any, problem: Problem) -> float:
        """Return the maximum number of evaluations of an individual in a generation from 1 on.

        Those of an improver do not count. Infinite if unknown.
        """
        return cls.children if cls.improves else math.inf

    def items(self, problem: Problem) -> int:
        """Return the number of work items that the threads of a block share."""
        return problem.evaluation.items

    def room(self, pitch: int) -> int:
        """Return the bytes of scratch memory that it needs in addition to those of its mover."""
        return 0

    def kept(self) -> int:
        """Return the number of best individuals that each generation keeps unchanged."""
        return 0

    def copied(self) -> int:
        """Return the number of first slots for which a generation makes no children."""
        return self.kept()
