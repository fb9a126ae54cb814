"""The base class of problems: an instance, its device data, and its exact objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands import settings as named
from islands.backends.source import Header, Macros
from islands.errors import UsageError
from islands.problems import messages
from islands.problems.arrays import Arrays
from islands.problems.capabilities import ChainMoves, Layout, ProblemWords
from islands.problems.distances import Distances
from islands.problems.evaluation import Evaluation
from islands.problems.kinds import SOLUTION_KINDS
from islands.problems.scale import Scale
from islands.problems.solution_kinds import SolutionKind
from islands.statistics import percent_worse
from islands.text import shown

if TYPE_CHECKING:
    from islands.instances.catalogue import BestKnown
    from islands.instances.solution_files import Remark
    from islands.problems.core import Core
    from islands.problems.flips import Flips
    from islands.problems.qap_exchanges import Swaps

Solution = NDArray[Any]
"""An order or a subset of integers, or a vector of numbers."""


_SCALES = {maximise: Scale(maximise=maximise) for maximise in (False, True)}
"""The scales of minimised and maximised costs, created once."""


class Problem(ABC):
    """An instance of some kind of problem.

    The methods compute costs in NumPy with exact integers, independently of the kernel header.
    """

    name: str
    """Name on the command line."""
    header: Header
    """The kernel header, which computes the same objective on the device."""
    solution_kind: str
    """`order` (a permutation of n items), `subset` (of n items), `vector` (n numbers between `low`
    and `high`), `keys` (n single-precision numbers in [0, 1)) or `choices` (a value for each of n
    items)."""
    solution_suffix: ClassVar[str]
    """Suffix of solution files in the usual format of the problem, such as `.tour`."""
    moves: tuple[str, ...] = ()
    """Moves for which the header has `delta`: swap, reversal, insertion; exchange in subsets."""
    Settings: ClassVar[type[named.Settings]] = named.NoSettings
    """The class of settings; their names have no prefix, and differ from those of algorithms."""
    instance: str
    """Name of the instance; `set/name` if it is in the catalogue."""
    size: int
    """Number of items that a solution orders or selects from, or of numbers in a solution."""
    low: ArrayLike = 0.0
    """Lower bounds of vectors: a number, or one for each coordinate."""
    high: ArrayLike = 1.0
    """Upper bounds of vectors."""
    near: Distances | None = None
    """The distances between items, if any; they define the nearest neighbours of an item."""
    swaps: Swaps | None = None
    """The exchanges of two items, or None if kernels cannot update their cost differences."""
    core: Core | None = None
    """The core of a knapsack problem, whose items tempering exchanges, or None."""
    chains: ChainMoves = ChainMoves()
    """The moves that tempering can use."""
    layout: Layout = Layout()
    """The meaning of the entries of a solution."""
    words: ProblemWords = ProblemWords()
    """Words for messages."""
    best_known: BestKnown | None = None
    lower_bound: int | None = None
    """A lower bound on all costs: a run that reaches it ends."""
    maximise: bool = False
    constraints: int | None = None
    """Number of constraints, if it is part of the problem's size."""
    path: Path | None = None
    """The file that the problem was read from, if any."""
    settings: named.Settings = named.NoSettings()
    plot: Callable[[Solution, Any], Any] | None = None
    """A function that plots a solution into Matplotlib axes."""

    def __new__(cls, *args: Any, **options: Any) -> Self:
        """Reject a class that lacks methods, with a hint."""
        if lacking := sorted(getattr(cls, "__abstractmethods__", ())):
            raise messages.abstract_class(name=cls.__name__, lacking=lacking)
        return super().__new__(cls)

    def adjusted(self, settings: named.Settings) -> Self:
        """Return the same instance with these settings."""
        if settings == self.settings:
            return self
        adjusted = copy(self)
        adjusted.settings = settings
        return adjusted

    def as_solved(self, settings: Mapping[str, Any]) -> Problem:
        """Return the problem that a run with these settings solved; they may restrict solutions."""
        return self

    @property
    def scale(self) -> Scale:
        """How to interpret costs on the device."""
        return _SCALES[bool(self.maximise)]

    @property
    def flips(self) -> Flips | None:
        """The changes in cost due to flips, or None if tempering cannot flip many items at once."""
        return None

    @property
    def evaluation(self) -> Evaluation:
        """How costs are computed during a run."""
        return Evaluation(self)

    @property
    def entries(self) -> int:
        """Number of entries of a solution: the size, unless kernels order chains of items."""
        return self.size

    def __repr__(self) -> str:
        best = "" if self.best_known is None else f", best known {self.best_known.value}"
        kind = "" if self.name == self.instance else f"{self.name} of "
        return f"Problem({self.instance}: {kind}size {self.entries}{best})"

    @abstractmethod
    def defines(self) -> Macros:
        """Return the macros for compiling the kernel header."""

    @abstractmethod
    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the device data, in the order of the pointers in `problem::Data`."""

    def device_data(self) -> Mapping[str, NDArray[Any] | np.generic]:
        """Return the members of `problem::Data` by name; those of `arrays` are numbered."""
        return {str(place): array for place, array in enumerate(self.arrays())}

    def saved(self) -> Arrays:
        """Return arrays from which the problem can be recreated; empty if only a script can."""
        return {}

    @classmethod
    def restored(
        cls, arrays: Mapping[str, NDArray[Any]], name: str, best: BestKnown | None
    ) -> Self:
        """Recreate a problem of `PROBLEMS` from the arrays of `saved`."""
        raise NotImplementedError

    def launch_key(self) -> Hashable:
        """Return a key that determines the default settings and the programs, or None if unknown.

        Problems with equal keys also have equal scalars, and arrays of equal shapes.
        """
        return None

    @cached_property
    def kind(self) -> SolutionKind:
        """The solution kind."""
        return SOLUTION_KINDS[self.solution_kind](self.size, self.low, self.high)

    def defaults(self) -> dict[str, Any]:
        """Return the default settings of a user-defined class, by name.

        They override those of islands/configuration/defaults.py: all if the algorithm differs.
        """
        return {}

    @abstractmethod
    def costs(self, solutions: NDArray[Any]) -> NDArray[np.int64]:
        """Return the exact cost of each row of `solutions`, in units."""

    @abstractmethod
    def check(self, solution: Solution) -> None:
        """Raise a `RunError` that names the violated constraint if `solution` is infeasible."""

    @abstractmethod
    def read_solution(self, path: Path) -> Solution:
        """Return the solution in a file of the problem's usual format."""

    def settings_in(self, path: Path) -> Mapping[str, Any]:
        """Return the problem settings stated in a solution file."""
        return {}

    def remarks(self) -> Sequence[Remark]:
        """Return remarks about the data, which a run prints in its header."""
        return self.words.remarks

    def remarks_on(self, path: Path, cost: float | None) -> list[Remark]:
        """Return remarks about the problem's file and the solution in `path`.

        `cost` is the cost of the solution, or None if it is infeasible.
        """
        return list(self.remarks())

    @abstractmethod
    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        """Write a solution in the problem's usual format; `cost` is in units."""

    def cost(self, solution: ArrayLike) -> float:
        """Return the exact cost of a solution; reject an infeasible one.

        The cost is an integer unless costs have decimals.
        """
        try:
            array = np.asarray(solution)
        except ValueError:  # rows of different lengths
            array = np.empty(0, object)
        if array.dtype.kind not in "biuf":
            raise UsageError(
                f"cost({shown(solution)}): is not an array of numbers. Pass a solution of"
                f" {self.instance}, as in Result.solution"
            )
        self.check(array)
        cost: float = self.scale.value_of(int(self.costs(array[np.newaxis])[0]))
        return cost

    def _rows(self, solutions: ArrayLike) -> NDArray[Any]:
        """Return solutions as an array with one per row; reject other shapes."""
        try:
            array = np.asarray(solutions)
        except ValueError:  # rows of different lengths
            array = np.empty(0)
        if array.ndim != 2 or array.shape[1] != self.entries:
            raise UsageError(
                f"costs: needs an array with a row of {self.entries} entries for each solution of"
                f" {self.instance}. Pass [solution] for one"
            )
        return array

    def violation(self, solution: Solution) -> float:
        """Return the violation of a solution if infeasible results are allowed; 0 if feasible."""
        return 0.0

    def gap(self, cost: float) -> float | None:
        """Return the gap from the best known value to `cost` in percent, or None if unknown."""
        if self.best_known is None:
            return None
        best = self.best_known.value
        if self.scale.tolerance and self.scale.agrees(cost, best):
            return 0.0  # sums of the same lengths may differ in the last digits
        if self.scale.real and best:
            return float(percent_worse(np.float64(cost), float(best), maximise=self.maximise))
        worse = best - cost if self.maximise else cost - best
        if best == 0:
            return 0.0 if worse == 0 else None
        return 100.0 * worse / abs(best)
