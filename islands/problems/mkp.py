"""The multidimensional knapsack problem: select items with maximum profit within all capacities.

A solution has 1 for each selected item, and 0 for the others.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands import settings as named
from islands.backends.source import Header, Macros
from islands.errors import RunError
from islands.instances.catalogue import BestKnown
from islands.instances.mkp import SUM_MAX, MkpFile, read_mkp, read_sol, write_sol
from islands.problems import messages, utilities
from islands.problems.arrays import Arrays, narrowed
from islands.problems.base import Problem, Solution
from islands.problems.capabilities import Layout, ProblemWords
from islands.problems.core import MOST_CONSTRAINTS, Core
from islands.problems.evaluation import Evaluation
from islands.problems.scale import Scale
from islands.problems.utilities import UTILITIES
from islands.settings import Settings, setting

WAYS = ("drop", "linear", "dynamic", "repair")
"""How infeasible subsets are handled, in the order of kernels/problems/mkp.cuh."""
PENALTIES = ("linear", "dynamic")
"""Methods that leave infeasible subsets unchanged and penalise them."""


@dataclass(frozen=True)
class MkpSettings(Settings):
    """How infeasible subsets are handled."""

    infeasible: str = setting(
        "repair",
        "how infeasible subsets are handled: drop random items (drop), penalise the excess"
        " (linear), penalise the weight (dynamic), or drop and add items by utility (repair)",
        choices=WAYS,
    )
    penalty: float = setting(
        329.594,
        "penalty per unit of weight above a capacity",
        low=0,
        high=1e15,
        of="infeasible=linear",
    )
    fit_first: bool = setting(
        False,
        "whether to make the first generation feasible: drop random items until the rest fits,"
        " then add items that fit",
        of="infeasible=linear or dynamic",
    )
    utilities: str = setting(
        "lp",
        "utility of an item, its profit per weight: capacities are priced by the duals of the"
        " linear relaxation (lp) or by 1 / capacity (scaled)",
        choices=UTILITIES,
        of="infeasible=repair",
    )
    orders: int = setting(
        16,
        "number of item orders by utility that islands use; 1: only the exact order",
        low=1,
        high=1000,
        of="infeasible=repair",
    )


_C_TYPES = {"uint8": "unsigned char", "uint16": "unsigned short", "int32": "int32_t"}
_WIDEST = "int64_t"
_SAVED = ("profits", "weights", "capacities")


class Mkp(Problem):
    """An instance; profits, weights and capacities are non-negative integers."""

    name: str = "mkp"
    header: Header = Header("problems/mkp.cuh")
    solution_kind: str = "subset"
    moves: tuple[str, ...] = ("exchange",)
    solution_suffix: ClassVar[str] = ".sol"
    maximise: bool = True
    words: ProblemWords = ProblemWords(
        cost="profit",
        infeasible_fix="Choose infeasible=repair, infeasible=drop or fit_first=true, or with"
        " infeasible=linear a larger penalty",
    )
    Settings: ClassVar[type[named.Settings]] = MkpSettings

    settings: MkpSettings
    constraints: int

    def __init__(
        self,
        file: MkpFile,
        instance: str | None = None,
        best_known: BestKnown | None = None,
        settings: MkpSettings | None = None,
    ) -> None:
        self.instance = instance or file.name
        self.size = len(file.profits)
        self.best_known = best_known
        self.file, self.path = file, file.path
        self.settings = settings or MkpSettings()
        self.constraints = len(file.capacities)
        self.sorts_items = self.settings.infeasible == "repair"
        self.layout = Layout(
            sorts_items=self.sorts_items, to_device=self._to_device, from_device=self._from_device
        )
        if self.sorts_items and self.constraints <= MOST_CONSTRAINTS:
            self.core = Core(file, self.numbering, self._find_duals)
        if self.scale.marks:
            self._check_penalties()

    @property
    def scale(self) -> Scale:
        """The scale of profits, in the unit of the file; penalised subsets have marked costs."""
        marks = self.settings.infeasible in PENALTIES
        return Scale(maximise=self.maximise, unit=self.file.unit, marks=marks)

    @property
    def evaluation(self) -> Evaluation:
        """Evaluation by kernels, which may change a subset; a move changes all loads."""
        return Evaluation(self, reads={"exchange": self.constraints}, changes_solutions=True)

    def saved(self) -> Arrays:
        """Return the numbers of the instance."""
        return {name: getattr(self.file, name) for name in _SAVED}

    @classmethod
    def restored(
        cls, arrays: Mapping[str, NDArray[Any]], name: str, best: BestKnown | None
    ) -> Self:
        """Return the problem from the arrays of `saved`."""
        profits, weights, capacities = (arrays[key] for key in _SAVED)
        return cls(MkpFile(name, None, profits, weights, capacities), name, best)

    def adjusted(self, settings: named.Settings) -> Self:
        """Return the same instance with these settings."""
        if settings == self.settings:
            return self
        assert isinstance(settings, MkpSettings)
        return type(self)(self.file, self.instance, self.best_known, settings)

    def numbering(self) -> NDArray[np.int64]:
        """Return the index in the instance of each item on the device."""
        return self.orders[0] if self.sorts_items else np.arange(self.size)

    def _to_device(self, solutions: Solution) -> Solution:
        """Return solutions in the item numbers of the device."""
        return solutions[..., self.numbering()]

    def _from_device(self, device_solutions: Solution) -> Solution:
        """Return solutions in the item numbers of the instance."""
        solutions = np.empty_like(device_solutions)
        solutions[..., self.numbering()] = device_solutions
        return solutions

    @cached_property
    def orders(self) -> NDArray[np.int64]:
        """The items by decreasing utility; one row per order that islands use for repair."""
        if not self.sorts_items:
            return np.zeros((1, 1), np.int64)
        return utilities.orders(self.file, self._duals, self.settings.orders)

    def _find_duals(self) -> NDArray[np.float64]:
        return self._duals  # a method, as lambdas cannot be pickled

    @cached_property
    def _duals(self) -> NDArray[np.float64]:
        return utilities.prices_of(self.file, self.settings.utilities)

    def _ranks(self) -> NDArray[np.generic]:
        """Return the orders in the item numbers of the device."""
        return _narrowed(np.argsort(self.orders[0], kind="stable")[self.orders])

    def defines(self) -> Macros:
        """Return the number of constraints, the number types, and how to handle infeasibility.

        Utilities are not computed here, as macros are also needed without a run.
        """
        ranked = self.size if self.sorts_items else 1
        return {
            "MKP_CONSTRAINTS": str(self.constraints),
            "MKP_WEIGHT": _c_type(self.file.weights),
            "MKP_LOAD": self._load_type(),
            "MKP_PROFIT": _c_type(self.file.profits),
            "MKP_RANK": _c_type(np.array([ranked - 1])),
            "MKP_ORDERS": str(self.settings.orders if self.sorts_items else 1),
            "MKP_FIT_FIRST": str(int(self.settings.fit_first)),
            "MKP_INFEASIBLE": str(WAYS.index(self.settings.infeasible)),
        }

    def launch_key(self) -> Hashable:
        """Return the sizes and settings; None for subclasses or with a best known value."""
        if type(self) is not Mkp or self.best_known is not None:
            return None
        core = None if self.core is None else self.core.launch_key
        return (self.size, self.settings, self.file.unit, core, *self.defines().items())

    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the device data, with items in the order of the device."""
        order = self.numbering()
        weights = _narrowed(self.file.weights)[:, order]
        # A capacity above the total weight is never binding.
        capacities = np.minimum(self.file.capacities, self.file.weights.sum(axis=1))
        return [
            np.ascontiguousarray(weights),
            np.ascontiguousarray(weights.T),
            np.ascontiguousarray(_narrowed(self.file.profits)[order]),
            capacities.astype(np.int64 if self._load_type() == _WIDEST else np.int32),
            self.prices(),
            np.array(self._scales(), np.int64),
            self._ranks(),
        ]

    def prices(self) -> NDArray[np.float64]:
        """Return the penalty, in units of profit, per scaled unit of each constraint."""
        places = self.file.places or (0,) * self.constraints
        return np.array(
            [self.settings.penalty * self.file.unit / 10.0**decimals for decimals in places]
        )

    def costs(self, solutions: ArrayLike) -> NDArray[np.int64]:
        """Return the profit of each row."""
        profits: NDArray[np.int64] = self._rows(solutions) @ self.file.profits
        return profits

    def loads(self, solution: Solution) -> NDArray[np.int64]:
        """Return the load of each constraint: the total weight of the selected items."""
        return self.file.weights @ solution

    def check(self, solution: Solution) -> None:
        """Raise a `RunError` if `solution` is not a subset of the items or exceeds a capacity."""
        if solution.shape != (self.size,) or not np.isin(solution, (0, 1)).all():
            raise RunError(
                f"not a subset of the {self.size} items of {self.instance}: must have 0 or 1 for"
                " each item"
            )
        loads = self.loads(solution)
        if violated := np.flatnonzero(loads > self.file.capacities).tolist():
            raise messages.capacity_exceeded(
                instance=self.instance, file=self.file, loads=loads.tolist(), violated=violated
            )

    @classmethod
    def read(
        cls,
        path: Path,
        instance: str,
        best_known: BestKnown | None,
        form: str,
        part: int | None = None,
    ) -> Self:
        """Return an instance in a file; `part` is its number in a file with several instances.

        By default, the best known profit is the one that the file states, which may not be optimal.
        """
        file = read_mkp(path, form, part)
        if best_known is None and file.optimum is not None:
            is_whole = file.optimum % file.unit == 0
            value = file.optimum // file.unit if is_whole else file.optimum / file.unit
            best_known = BestKnown(value, "best_known", "the file itself")
        return cls(file, instance, best_known)

    def read_solution(self, path: Path) -> Solution:
        """Return the subset in a `.sol` file, a JSON file or a run's folder."""
        return read_sol(path, self.size)

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        """Write the numbers of the selected items."""
        write_sol(path, solution)

    def _scales(self) -> list[int]:
        """Return the factors of the constraints' weights that make sums over constraints exact.

        They scale all weights to the largest number of decimals of any constraint.
        """
        if self.settings.infeasible != "dynamic":
            return [1] * self.constraints
        places = self.file.places or (0,) * self.constraints
        has_weights = [total > 0 for total in self._totals()]
        most = max(compress(places, has_weights), default=0)
        # A constraint without weights gets 0, as its factor may not fit into 64 bits.
        both = zip(places, has_weights, strict=True)
        return [10 ** (most - place) if has_weight else 0 for place, has_weight in both]

    def _totals(self) -> list[int]:
        """Return the total weight of all items, for each constraint."""
        totals: list[int] = self.file.weights.sum(axis=1).tolist()
        return totals

    def _check_penalties(self) -> None:
        """Reject weights whose sum over all constraints may not fit into 64 bits."""
        scales = self._scales()
        total = sum(scale * weight for scale, weight in zip(scales, self._totals(), strict=True))
        if total >= SUM_MAX:
            raise messages.weights_too_large(
                name=str(self.path or self.instance),
                total=total,
                infeasible=self.settings.infeasible,
                is_scaled=max(scales) > 1,
            )

    def _load_type(self) -> str:
        return "int32_t" if max(self._totals(), default=0) < 2**31 else _WIDEST


def _narrowed(numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Return the numbers in the narrowest device type that can represent them."""
    narrow = narrowed(numbers, _C_TYPES)
    return numbers if narrow is None else narrow


def _c_type(numbers: NDArray[np.int64]) -> str:
    return _C_TYPES.get(_narrowed(numbers).dtype.name, _WIDEST)
