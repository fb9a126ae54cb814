"""The base class of algorithms, and the schedule of their kernel launches.

The kernel header of an algorithm defines `algorithm::Plan`, its settings on the device, and usually
a class `algorithm::Mover` (see kernels/algorithms/base.cuh), which kernels/generation.cuh calls for
each slot of a population. An algorithm with its own kernels also defines their launches.
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

from islands.algorithms import messages
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
    """The slots of each island for which this rank creates individuals; None for all."""
    first_made: range | None = None
    """The same for generation 0, in which no slot is copied; None if it equals `made`."""

    @property
    def individuals(self) -> int:
        """Number of individuals on all islands of the rank."""
        return self.islands * self.population

    @property
    def slots(self) -> range:
        """The slots of each island for which this rank creates individuals."""
        return range(self.population) if self.made is None else self.made

    @property
    def jobs(self) -> int:
        """Number of individuals that this rank creates in a generation."""
        return self.islands * len(self.slots)


class Host(Enum):
    """A step performed by the host alone."""

    EVALUATES = "evaluates the new children"


@dataclass(frozen=True)
class TeamExchanges:
    """Exchange of new individuals between the ranks that share an island.

    Omitted with a single rank.
    """

    fields: tuple[str, ...] = ()
    """Fields to exchange, each with a row per slot; empty: all such fields of the kind `kept`."""
    renewed: tuple[str, ...] = ()
    """Fields to exchange instead if the island restarts in this generation."""


HostStep = Host | TeamExchanges
"""A step between launches that involves the host."""


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel of the algorithm's header."""

    kernel: str
    blocks: int
    room: int | None = 0
    """Bytes of scratch memory per block; None for as much as kernels/generation.cuh needs."""
    threads: int | None = None
    """Threads per block on a GPU, for a kernel that `KERNEL_OF` declares; its blocks get exactly
    `room`. None for the block size of the program, and the largest room of all such launches."""
    plan: tuple[tuple[str, Any], ...] = ()
    """Members of the algorithm's plan that have other values in this launch."""


@dataclass(frozen=True)
class Concurrent:
    """Independent sequences of launches, which a GPU may run concurrently."""

    sequences: tuple[tuple[Launch, ...], ...]


@dataclass(frozen=True)
class Rounds:
    """Launches that are repeated until no move is waiting for its evaluation by the host."""

    launches: tuple[Launch, ...]


Step = Launch | Concurrent | Rounds | HostStep


@dataclass(frozen=True)
class Schedule:
    """The launches of an algorithm, in order.

    Each kernel has the parameters `(Arena arena, Islands all, problem::Data data,
    algorithm::Plan plan, improver::Plan improving)`.
    """

    start: tuple[Step, ...]
    generation: tuple[Step, ...]
    adopt: tuple[Launch, ...] = ()
    """Launches that update derived fields of the rows marked in `Islands::changed`, after a start,
    a restore or a migration. They must not change other rows: islands of other runs may be part of
    the same launch."""

    def __post_init__(self) -> None:
        """Reject a schedule without launches."""
        for name, needed in {"start": True, "generation": True, "adopt": False}.items():
            steps = getattr(self, name)
            if not isinstance(steps, tuple) or (needed and not steps):
                raise messages.empty_schedule(name=name, steps=steps)

    @property
    def evaluates_outside(self) -> bool:
        """Whether the host evaluates children in every generation."""
        return any(s is Host.EVALUATES or isinstance(s, Rounds) for s in self.generation)

    @property
    def divides(self) -> bool:
        """Whether ranks can share the work of an island."""
        return any(isinstance(step, TeamExchanges) for step in self.start)

    def launches(self) -> Iterator[Launch]:
        """Yield all launches, without host steps."""
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
        if not outside:
            return (Launch(name, shape.jobs, None), *exchange)
        make, select = (Launch(f"{name}_{end}", shape.jobs, None) for end in ("made", "selected"))
        return (make, Host.EVALUATES, select, *exchange)

    return Schedule(steps("first_generation"), steps("next_generation"))


NEIGHBOURS = "neighbours of items"
"""The reserved name of the array for `Neighbours` of kernels/tours."""


def reset_setting() -> Any:
    """Declare the setting `reset`, the patience of an algorithm."""
    words = "generations without improvement before an island restarts; 0: never"
    return setting(0, words, low=0, high=2**62)


def require_parents(population: int) -> None:
    """Reject a population of fewer than two individuals."""
    if population < 2:
        raise UsageError(f"population={population}: must be at least 2, as a child has two parents")


def require_even(neighbours: int) -> None:
    """Reject an odd number of neighbours on a ring."""
    if neighbours % 2:
        raise UsageError(
            f"neighbours={neighbours}: must be even, half on each side. Choose {neighbours - 1} or"
            f" {neighbours + 1}"
        )


def require_interval(low: float, high: float) -> None:
    """Reject an empty range of initial keys."""
    if not np.float32(low) < np.float32(high):
        raise messages.empty_interval(low=low, high=high)


class Algorithm(ABC):
    """An algorithm with its settings, for populations of one size."""

    name: ClassVar[str]
    header: ClassVar[Header]
    """The kernel header."""
    encodings: ClassVar[tuple[str, ...]]
    """The supported encodings."""
    Settings: ClassVar[type[Settings]] = NoSettings

    uses_neighbours: ClassVar[bool] = False
    """Whether the algorithm needs the neighbours of each item; `plan` receives them as
    `NEIGHBOURS`."""
    needs: ClassVar[str] = "distances between cities"
    """What the problem must provide, as named in the error message."""
    varies_in_length: ClassVar[bool] = False
    """Whether a generation may take many times longer than the previous one."""
    needs_order: bool = False
    """Whether each generation needs all individuals sorted by cost, not only the best one."""
    fewest_threads: ClassVar[int] = 32
    """Minimum number of threads per block for good performance on a GPU."""
    slow_to_compile: ClassVar[tuple[str, ...]] = ()
    """Kernels that dominate the compile time, slowest first; they are compiled in parallel."""
    few_threads: bool = False
    """Whether blocks synchronise so often that small blocks are faster on a GPU."""
    block: Block | None = None
    """The block size for which the kernels were written, and the maximum number of resident blocks
    per multiprocessor; None for any. May depend on the problem."""
    children: int = 1
    """`CHILDREN` of the mover: number of children created at once per slot."""
    decodings: ClassVar[tuple[str, ...]] = ()
    """The supported decodings of keys, the default first; empty: only `free`, for any keys."""
    improves: ClassVar[bool] = True
    """Whether an improver can be used; False if the algorithm has its own local search."""
    shares_launches: bool = True
    """Whether runs on different instances may share launches."""
    may_take_long: ClassVar[bool] = False
    """Whether a generation may take seconds on a GPU; a time limit must then interrupt it."""
    may_begin_partly: ClassVar[bool] = True
    """Whether generation 0 may be incomplete if the limit of evaluations is too low for it."""
    most_first_calls: ClassVar[int] = 1
    """Maximum number of evaluations per individual in generation 0."""
    keeps_quota: bool = True
    """Whether an island ends a generation early when its quota of evaluations is used up."""
    same_slots: bool = False
    """Whether all generations except the first and restarts create children for the same slots."""
    loses_best: bool = False
    """Whether an island may lose its best individual without a restart."""
    price_factors: str = ""
    """Name of the field with factors of the violation price, each for the same number of
    consecutive slots; empty: the price is constant. May depend on the problem."""
    patience: int = 0
    """Generations without improvement before an island restarts; 0: never."""
    divides: ClassVar[bool | None] = None
    """Whether ranks may share the individuals of an island. If None, they may if all fields have an
    entry per individual, as ranks do not exchange other fields."""
    grows_by_islands: ClassVar[bool] = True
    """Whether the default number of islands grows with the number of GPUs; otherwise GPUs share the
    same islands."""
    halo: int = 0
    """Number of individuals at each end of an island that the next island reads; 0: no halo."""

    def __init__(self, settings: Any = None, population: int = 0, encoding: str = "") -> None:
        """Check the settings against the population size and the encoding.

        A script may create an instance without arguments to represent the class.
        """
        self.settings, self.population, self.encoding = settings, population, encoding

    @classmethod
    def standstill(cls, settings: Any, population: int, size: int, *, is_warm: bool) -> int:
        """Return the number of generations without improvement that count as convergence.

        `is_warm`: the run starts from given solutions.
        """
        return population

    @classmethod
    def fits(cls, problem: Problem) -> bool:
        """Return whether the algorithm supports a problem that has one of its encodings."""
        return problem.near is not None or not cls.uses_neighbours

    @classmethod
    def reads(cls, problem: Problem, encoding: str) -> bool:
        """Return whether the algorithm supports this encoding of a problem that it `fits`."""
        return True

    @classmethod
    def takes(cls, problem: Problem, given: Mapping[str, Any]) -> bool:
        """Return whether the settings given by name, with defaults for all others, fit together."""
        return True

    @classmethod
    def completed(cls, settings: Any, encoding: str) -> Any:
        """Return the settings, with unset ones replaced by the defaults of the encoding."""
        return settings

    @classmethod
    def confined(cls, settings: Any) -> Any:
        """Return the settings for a bounded encoding; reject those that do not suit its range."""
        return settings

    def prepare(self, problem: Problem, shape: Shape) -> None:  # noqa: B027
        """Derive what other methods need from the problem and the sizes of the populations."""

    def require_islands(self, islands: int) -> None:  # noqa: B027
        """Reject a total number of islands that does not fit the settings."""

    def require_problem(self, problem: Problem) -> None:  # noqa: B027
        """Reject a problem that does not fit the settings."""

    def defines(self) -> Macros:
        """Return the macros for compiling the kernels."""
        return {}

    @abstractmethod
    def plan(self, arrays: Mapping[str, Array]) -> Struct:
        """Return `algorithm::Plan`; `arrays` contains its fields and tables."""

    def fields(self, shape: Shape) -> dict[str, Field]:
        """Return the algorithm's own arrays of an island; names must be unique."""
        return {}

    def numbers(self) -> Hashable:
        """Return the instance-dependent values that must be equal for runs to share launches."""
        return None

    def tables(self, problem: Problem) -> dict[str, NDArray[Any]]:
        """Return read-only arrays that all islands share, such as lists of neighbours."""
        return {}

    def schedule(self, shape: Shape, *, outside: bool) -> Schedule:
        """Return the launches; with `outside`, the host evaluates the children between them."""
        return loop(shape, outside=outside, divides=self._divides(shape))

    def _divides(self, shape: Shape) -> bool:
        if self.divides is not None:
            return self.divides
        fields = [field for field in self.fields(shape).values() if field.kind != "scratch"]
        return all(field.shape[:1] == (shape.population,) for field in fields)

    def are_renewed(self, read: Callable[[str], NDArray[Any]]) -> list[bool]:
        """Return for each island of the rank whether the current generation restarts it.

        `read` returns a field. Only called if ranks share the islands and the schedule has
        `renewed` fields.
        """
        return []

    @classmethod
    def shares_all(cls, problem: Problem) -> bool:
        """Return whether ranks share all islands instead of distributing them.

        This pays off if generations are long and vary in length, as ranks with their own islands
        would wait for each other.
        """
        return False

    @classmethod
    def most_calls(cls, settings: Any, problem: Problem) -> float:
        """Return the maximum number of evaluations per individual in generations after the first.

        Evaluations of an improver do not count. Infinite if unknown.
        """
        return cls.children if cls.improves else math.inf

    def items(self, problem: Problem) -> int:
        """Return the number of work items that are distributed over the threads of a block."""
        return problem.evaluation.items

    def room(self, pitch: int) -> int:
        """Return the scratch memory needed in addition to that of the mover, in bytes."""
        return 0

    def kept(self) -> int:
        """Return the number of best individuals that each generation keeps unchanged."""
        return 0

    def copied(self) -> int:
        """Return the number of leading slots that are copied to the next generation."""
        return self.kept()
