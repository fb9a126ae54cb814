"""The base class of problems: an instance, its device data, and its exact objective."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands import settings as named
from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.backends.source import Header, Macros
from islands.errors import UsageError
from islands.instances.solution_files import solution_file
from islands.problems.distances import Distances
from islands.problems.real_costs import agree, real_of
from islands.problems.solution_kinds import SOLUTION_KINDS, SolutionKind
from islands.statistics import percent_worse

if TYPE_CHECKING:
    from islands.instances.catalogue import BestKnown
    from islands.instances.solution_files import Remark
    from islands.modelling.functions import PythonCosts
    from islands.problems.core import Core
    from islands.problems.qap_exchanges import Swaps

Solution = NDArray[Any]
"""An order or a subset of integers, or a vector of numbers."""


Arrays = dict[str, NDArray[Any]]
FACTS = "facts"
"""The array with what says which problem the other arrays describe."""


def packed(facts: Mapping[str, Any]) -> NDArray[np.uint8]:
    """Return facts as an array of bytes."""
    return np.frombuffer(json.dumps(facts).encode(), np.uint8)


def narrowed(numbers: NDArray[np.int64], types: Iterable[str]) -> NDArray[Any] | None:
    """Return integers in the first of these types that can represent them; None: none can."""
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for name in types:
        limits = np.iinfo(name)
        if limits.min <= low and high <= limits.max:
            return np.ascontiguousarray(numbers, name)
    return None


def never() -> bool:
    """Return that all solutions must be evaluated."""
    return False


class Problem(ABC):
    """One instance of one kind of problem.

    The methods check the kernel header independently: they use NumPy and exact integers.
    """

    name: str
    """Its name on the command line."""
    header: Header
    """Its kernel header, which computes the same objective on the device."""
    solution_kind: str
    """`order` (a permutation of n items), `subset` (some of n items), `vector` (n numbers between
    `low` and `high`) or `keys` (n single-precision numbers in [0, 1))."""
    solution_suffix: ClassVar[str]
    """The suffix of solution files in the usual format of the problem, such as `.tour`."""
    moves: tuple[str, ...] = ()
    """The moves for which its header has `delta`: swap, reversal, insertion; subsets: exchange."""
    moves_fix: str = "Add it to its header and to `moves` of its class"
    """The fix that is shown if an improver needs another move."""
    cost_fix: ClassVar[str] = "This is an error in islands: please report it"
    """The fix that is shown if the kernels and the exact objective give different costs."""
    proposals: tuple[str, ...] = ()
    """The moves after which kernels compute the cost, for the chains of tempering."""
    has_state: bool = False
    """Whether a state that follows the moves tells their changes of the cost in a few steps."""
    has_steps: bool = False
    """Whether the state proposes moves of its own."""
    assigns: ClassVar[bool] = False
    """Whether entry i of a solution is the place of item i, instead of the item at place i."""
    is_tour: ClassVar[bool] = False
    """Whether an order is a closed tour, whose cost is its length by `near`: the edges of two
    orders are compared, and islands/bounds finds a lower bound."""
    cost_word: ClassVar[str] = "cost"
    """The usual name of its cost, such as `length`."""
    colonies: ClassVar[tuple[str, ...]] = ()
    """The settings of colonies that suit it; empty: those of its kind of solutions."""
    Settings: ClassVar[type[named.Settings]] = named.NoSettings
    """Its settings, which have no prefix; no algorithm has settings with the same names."""
    hint: ClassVar[str] = ""
    """The fix that is shown if a run finds no feasible solution."""

    instance: str
    """The instance's name; `set/name` if it is in the catalogue."""
    size: int
    """Number of items that a solution orders or selects from, or of numbers in a solution."""
    low: ArrayLike = 0.0
    """Lower bounds of vectors: a number, or one for each coordinate."""
    high: ArrayLike = 1.0
    """Upper bounds of vectors."""
    near: Distances | None = None
    """The distances between its items, if it has any; then each has nearest neighbours."""
    swaps: Swaps | None = None
    """What it says about exchanges of two items, if its kernels can update their differences."""
    has_core: bool = False
    """Whether it is a knapsack with a core, whose items tempering exchanges."""
    same_memory: bool = True
    """Whether kernels need as much memory for any other instance of its size and kind."""
    best_known: BestKnown | None = None
    maximise: bool = False
    unit: int = 1
    """Costs, on the device and in NumPy, are integers in units of `1 / unit`, to be exact."""
    real: bool = False
    """Whether costs are floating-point numbers; on the device, integers with the same order."""
    constraints: int | None = None
    """The number of its constraints, if that is a part of its size."""
    ranks_items: bool = False
    """Whether the device numbers items by decreasing utility."""
    path: Path | None = None
    """Its file, if it was read from one."""
    structure: str = ""
    """What is special about the instance, for the header of a run."""
    remarks: Sequence[Remark] = ()
    """Remarks about its file."""
    settings: named.Settings = named.NoSettings()
    changes_solutions: bool = False
    """Whether its kernels may change a solution when they evaluate it."""
    marks: bool = False
    """Whether costs on the device are doubled, with 1 added if the solution is infeasible."""
    priced: bool = False
    """Whether costs on the device have the price of a violation: see core/priced.cuh."""
    adapts_price: bool = False
    """Whether this price may change: see Ladder::adapt in kernels/tempering/ladder.cuh."""
    is_serial: bool = False
    """Whether one thread evaluates a solution, instead of all threads of a block together."""
    python: PythonCosts | None = None
    """The Python function that computes its costs instead of kernels."""
    checker: str = "NumPy"
    """What computes the exact costs."""
    evaluator: str = "an evaluation"
    """What evaluates solutions, for a message about an evaluation that does not return."""
    plot: Callable[[Solution, Any], Any] | None = None
    """A function that draws a solution into Matplotlib axes."""

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Refuse a class that lacks methods, with a hint."""
        if lacking := sorted(getattr(cls, "__abstractmethods__", ())):
            raise UsageError(
                f"class {cls.__name__}: a subclass of islands.Problem must define"
                f" {', '.join(lacking)}. Define them, or state the problem by islands.permutation,"
                " islands.subset, islands.keys or islands.real"
            )
        return super().__new__(cls)

    def adjusted(self, settings: named.Settings) -> Self:
        """Return the same instance with these settings."""
        if settings == self.settings:
            return self
        adjusted = copy(self)
        adjusted.settings = settings
        return adjusted

    @abstractmethod
    def defines(self) -> Macros:
        """Return the macros for the compilation of its kernel header."""

    @abstractmethod
    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the device data, in the order of the pointers in `problem::Data`."""

    def data(self) -> Mapping[str, NDArray[Any] | np.generic]:
        """Return the members of `problem::Data`: device arrays, and numbers; named or in order."""
        return {str(place): array for place, array in enumerate(self.arrays())}

    @contextmanager
    def prepared(self, processes: int, backend: str) -> Iterator[str]:
        """Prepare evaluations during a run on a backend, by at most `processes` processes.

        Yield a text about who evaluates, which is empty if kernels do.
        """
        yield ""

    def refuse_faults(self, data: Struct, device: Backend) -> None:  # noqa: B027
        """Raise a `RunError` if kernels have reported a fault in the arrays of `data`."""

    def saved(self) -> Arrays:
        """Return arrays from which it can be made again; empty if only a script has it."""
        return {}

    @classmethod
    def restored(
        cls, arrays: Mapping[str, NDArray[Any]], name: str, best: BestKnown | None
    ) -> Self:
        """Return the problem of `PROBLEMS` that was `saved` like this."""
        raise NotImplementedError

    def reports(self) -> Mapping[str, NDArray[Any] | np.generic]:
        """Return the members of `problem::Data` to which kernels report wrong values."""
        return {}

    def likeness(self) -> Hashable:
        """Return what its settings and programs depend on, the same for problems with equal ones.

        None: unknown. Its arrays have the same shapes then, and its numbers the same values.
        """
        return None

    @cached_property
    def kind(self) -> SolutionKind:
        """The kind of its solutions."""
        return SOLUTION_KINDS[self.solution_kind](self.size, self.low, self.high)

    def to_device(self, solutions: Solution) -> Solution:
        """Return solutions, one or a row each, with the items as the device numbers them."""
        return solutions

    def from_device(self, found: Solution) -> Solution:
        """Return solutions of the device with the items as the instance numbers them."""
        return found

    @property
    def core(self) -> Core:
        """The core of a knapsack that has one."""
        raise NotImplementedError

    def defaults(self) -> dict[str, Any]:
        """Return the default settings for this problem, by name."""
        return {"algorithm": "brkga"}

    def short_defaults(self) -> dict[str, Any] | None:
        """Return the default settings of a run that ends when it has converged; None: as usual."""
        return None

    def other_defaults(self) -> list[dict[str, Any]]:
        """Return default settings for requests that exclude `defaults`, such as of an improver."""
        return []

    def sizes(self, defaults: Mapping[str, Any], gpus: Callable[[], int]) -> Mapping[str, Any]:
        """Return the islands, population and steps of chosen defaults, by the backend.

        `gpus` returns the number of GPUs of the run, 0 for CPUs, which may take a while to find
        out.
        """
        return {}

    def items(self) -> int:
        """Return the number of work items that the threads of a block share in an evaluation."""
        return self.size

    def delta_items(self, move: str) -> int:
        """Return the approximate number of memory reads for the cost difference of one move."""
        return self.size

    @abstractmethod
    def costs(self, solutions: NDArray[Any]) -> NDArray[np.int64]:
        """Return the exact cost of each row of `solutions`, in units."""

    def device_costs(
        self,
        solutions: NDArray[Any],
        must_leave: Callable[[], bool] = never,
        factors: NDArray[np.float64] | float = 1.0,
    ) -> NDArray[np.int64]:
        """Return the exact costs as on the device, where they are minimised.

        If evaluations may take long, those after `must_leave` has returned true are left out.
        `factors` are those of the price of a violation, of each solution.
        """
        costs = self.costs(solutions)
        return -costs if self.maximise else costs

    @abstractmethod
    def check(self, solution: Solution) -> None:
        """Raise a `RunError` that names the violated constraint if `solution` is infeasible."""

    @abstractmethod
    def read_solution(self, path: Path) -> Solution:
        """Return the solution in a file of the problem's usual format."""

    def read_remarked(self, path: Path) -> tuple[Solution, list[Remark]]:
        """Return the solution in a file or a run's folder, with remarks about the file."""
        return self.read_solution(solution_file(path, self.solution_suffix, "solution")), []

    def remarks_given(self, path: Path, cost: float) -> Sequence[Remark]:
        """Return the remarks about the instance, given the cost of the solution in `path`."""
        return self.remarks

    @abstractmethod
    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        """Write a solution, with its cost in units, in the problem's usual format."""

    def cost(self, solution: ArrayLike) -> float:
        """Return the exact cost of one solution; refuse an infeasible one.

        The cost is an integer unless costs have decimals.
        """
        array = np.asarray(solution)
        self.check(array)
        cost: float = self.value_of(int(self.costs(array[np.newaxis])[0]))
        return cost

    def violation(self, solution: Solution) -> float:
        """Return by how much a solution is infeasible, where results may be; 0 if feasible."""
        return 0.0

    def value_of(self, units: Any) -> Any:
        """Return the value of a number of units, or of an array of them.

        It is an integer unless costs have decimals. Decimals are exact up to 15 digits.
        """
        return units if self.unit == 1 else units / self.unit

    def own_sense(self, costs: Any) -> Any:
        """Return the values of device costs, which are minimised, in the sense of the instance."""
        if self.real:
            values = real_of(costs)
            return 0.0 - values if self.maximise else values
        return self.value_of(-costs if self.maximise else costs)

    def own_mean(self, total: Any, count: float = 1) -> Any:
        """Return the mean of `count` values in the sense of the instance.

        `total` is their sum, minimised and in units; or an array of such sums.
        """
        return self.value_of(-total if self.maximise else total) / count

    def agrees(self, exact: float | None, shown: float | None) -> bool:
        """Return whether a cost that was computed again confirms the cost that a run shows."""
        return agree(exact, shown, real=self.real)

    def gap(self, cost: float) -> float | None:
        """Return how much worse `cost` is than the best known value, in percent; None: unknown."""
        if self.best_known is None:
            return None
        best = self.best_known.value
        if self.real and best:
            return float(percent_worse(np.float64(cost), float(best), maximise=self.maximise))
        worse = best - cost if self.maximise else cost - best
        if best == 0:
            return 0.0 if worse == 0 else None
        return 100.0 * worse / abs(best)
