"""What a problem is to the rest: an instance, its device data, and its exact objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from islands import settings as named
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.instances.orders import solution_file

if TYPE_CHECKING:
    from islands.instances.catalogue import BestKnown
    from islands.instances.remarks import Remark

Solution = NDArray[np.int64]


class Problem(ABC):
    """One instance of one kind of problem.

    The methods here are the independent check of its kernel header, written in NumPy with exact
    integers.
    """

    name: ClassVar[str]
    """Its name on the command line."""
    header: ClassVar[Header]
    """Its kernel header, which computes the same objective on the device."""
    solution_kind: ClassVar[str]
    """`order` (all of n items, in some order) or `subset` (some of n items)."""
    solution_suffix: ClassVar[str]
    """The suffix of solution files in the family's own format, such as `.tour`."""
    maximise: ClassVar[bool] = False
    moves: ClassVar[tuple[str, ...]] = ()
    """The moves whose `delta` its header has: swap, reversal, insertion; of subsets, exchange."""
    assigns: ClassVar[bool] = False
    """Whether entry i of a solution is the place of item i, and not the item in place i."""
    cost_word: ClassVar[str] = "cost"
    """What people call its cost."""
    Settings: ClassVar[type[named.Settings]] = named.NoSettings
    """What there is to be set about it, by bare names; no algorithm has settings of these names."""
    hint: ClassVar[str] = ""
    """The sentence that says what to choose where a run has met no feasible solution."""

    instance: str
    """The instance's name, `set/name` where it is in the catalogue."""
    size: int
    """How many items a solution orders or chooses from."""
    best_known: BestKnown | None = None
    path: Path | None = None
    """Its file, where it was read from one."""
    remarks: Sequence[Remark] = ()
    """What reading its file has shown about it."""
    settings: named.Settings = named.NoSettings()
    unit: int = 1
    """Costs, on the device and in NumPy, are whole numbers of `1 / unit`, to keep them exact."""
    changes_solutions: ClassVar[bool] = False
    """Whether its kernels judge by settings of theirs, and may change what they judge."""
    marks: bool = False
    """Whether costs on the device are doubled, with 1 added for what is not feasible."""

    def adjusted(self, settings: named.Settings) -> Self:
        """Return the same instance under these settings."""
        if settings == self.settings:
            return self
        adjusted = copy(self)
        adjusted.settings = settings
        return adjusted

    @abstractmethod
    def defines(self) -> Macros:
        """Return the macros that its kernel header is compiled with."""

    @abstractmethod
    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the device data, in the order of the pointers of `problem::Data`."""

    @property
    def ranks_items(self) -> bool:
        """Whether the device numbers items from the most useful one on."""
        return self.numbering() is not None

    def numbering(self) -> NDArray[np.int64] | None:
        """Return which item of a solution each item of the device is, where that differs."""
        return None

    def room(self) -> int:
        """Return the bytes of scratch memory its kernels take besides what the header declares."""
        return 0

    def defaults(self) -> dict[str, Any]:
        """Return the settings, by name, that solve it best where nothing else is asked for."""
        return {"algorithm": "brkga"}

    def items(self) -> int:
        """Return the pieces of work that the threads of a block share when they evaluate."""
        return self.size

    def delta_items(self, move: str) -> int:
        """Return about how many numbers it looks up for the difference that one move makes."""
        return self.size

    @abstractmethod
    def costs(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the exact cost of each row of `solutions`, in units."""

    @abstractmethod
    def check(self, solution: Solution) -> None:
        """Raise a `RunError` that says what is wrong where `solution` is not feasible."""

    @abstractmethod
    def read_solution(self, path: Path) -> Solution:
        """Return the solution in a file of the family's own format."""

    def read_remarked(self, path: Path) -> tuple[Solution, list[Remark]]:
        """Return the solution in a file or a run's folder, and what reading it has shown."""
        return self.read_solution(solution_file(path, self.solution_suffix, "solution")), []

    def remarks_given(self, path: Path, cost: float) -> Sequence[Remark]:
        """Return the remarks, now that the solution in `path` is found to cost so much."""
        return self.remarks

    @abstractmethod
    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        """Write a solution, whose cost is given in units, in the family's own format."""

    def cost(self, solution: Solution) -> float:
        """Return the exact cost of one solution, after checking that it is feasible.

        It is a whole number unless costs have decimals.
        """
        self.check(solution)
        cost: float = self.value_of(int(self.costs(solution[np.newaxis])[0]))
        return cost

    def value_of(self, units: Any) -> Any:
        """Return the number, or the array of them, that so many units are.

        It is an integer unless there are decimals. Then it is exact, and is printed as it is, up to
        15 digits.
        """
        return units if self.unit == 1 else units / self.unit

    def own_sense(self, costs: Any) -> Any:
        """Return costs of the device, which are minimised, in the instance's own sense."""
        return self.value_of(-costs if self.maximise else costs)

    def gap(self, cost: float) -> float | None:
        """Return how much worse than the best known value `cost` is, in per cent."""
        if self.best_known is None:
            return None
        best = self.best_known.value
        worse = best - cost if self.maximise else cost - best
        if best == 0:
            return 0.0 if worse == 0 else None
        return 100.0 * worse / abs(best)
