"""The multidimensional knapsack problem: the most profit of items chosen within every capacity.

A solution has 1 for each of n items that is chosen, and 0 for the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from islands import settings as named
from islands.backends.header import Header
from islands.backends.source import Macros
from islands.errors import InputError, RunError
from islands.instances.catalogue import BestKnown
from islands.instances.mkp import MkpFile, read_mkp
from islands.instances.mkp_file import SUM_MAX
from islands.instances.sol import read_sol, write_sol
from islands.problems import utilities
from islands.problems.base import Problem, Solution
from islands.problems.mkp_settings import PENALTIES, WAYS, MkpSettings

_C_TYPES = {"uint8": "unsigned char", "uint16": "unsigned short", "int32": "int32_t"}
_WIDEST = "int64_t"
_NAMED = 10  # constraints that an error lists

# Of the default run, as measured on an H200: individuals in all, and in a population.
_MANY, _FEW = 16_384, 4_096
_SMALL = 15_000  # weights; of more, generations of many individuals take too long
_FEWEST, _MOST, _ITEMS_AN_INDIVIDUAL = 64, 512, 6


class Mkp(Problem):
    """An instance; profits, weights and capacities are whole numbers that are not negative."""

    name: ClassVar[str] = "mkp"
    header: ClassVar[Header] = Header("problems/mkp.cuh")
    solution_kind: ClassVar[str] = "subset"
    moves: ClassVar[tuple[str, ...]] = ("exchange",)
    changes_solutions: ClassVar[bool] = True
    solution_suffix: ClassVar[str] = ".sol"
    maximise: ClassVar[bool] = True
    cost_word: ClassVar[str] = "profit"
    hint: ClassVar[str] = (
        "Choose infeasible=repair, infeasible=drop or fit_first=true, or for infeasible=linear a"
        " larger penalty"
    )
    Settings: ClassVar[type[named.Settings]] = MkpSettings

    settings: MkpSettings

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
        self.file, self.path, self.unit = file, file.path, file.unit
        self.settings = settings or MkpSettings()
        self.marks = self.settings.infeasible in PENALTIES
        if self.marks:
            self._check_fines()

    def adjusted(self, settings: named.Settings) -> Self:
        """Return the instance with other settings."""
        if settings == self.settings:
            return self
        assert isinstance(settings, MkpSettings)
        return type(self)(self.file, self.instance, self.best_known, settings)

    @property
    def constraints(self) -> int:
        """How many capacities there are."""
        return len(self.file.capacities)

    def numbering(self) -> NDArray[np.int64] | None:
        """Return the items from the most useful one on, where choices are repaired."""
        return self.orders[0] if self.ranks_items else None

    @property
    def ranks_items(self) -> bool:
        """Whether choices are repaired."""
        return self.settings.infeasible == "repair"

    @cached_property
    def orders(self) -> NDArray[np.int64]:
        """All items from the most useful one on, a row for each order by which islands repair."""
        if not self.ranks_items:
            return np.zeros((1, 1), np.int64)
        return utilities.orders(self.file, self.settings.utilities, self.settings.orders)

    def _ranks(self) -> NDArray[np.generic]:
        """Return the orders in the numbers that items have on the device."""
        return _narrowed(np.argsort(self.orders[0], kind="stable")[self.orders])

    def defines(self) -> Macros:
        """Return the number of constraints, the types of the numbers, and the way.

        Nothing is priced for them: they are also asked for where no run follows.
        """
        ranked = self.size if self.ranks_items else 1
        return {
            "MKP_CONSTRAINTS": str(self.constraints),
            "MKP_WEIGHT": _c_type(self.file.weights),
            "MKP_LOAD": self._load_type(),
            "MKP_PROFIT": _c_type(self.file.profits),
            "MKP_RANK": _c_type(np.array([ranked - 1])),
            "MKP_ORDERS": str(self.settings.orders if self.ranks_items else 1),
            "MKP_FIT_FIRST": str(int(self.settings.fit_first)),
            "MKP_INFEASIBLE": str(WAYS.index(self.settings.infeasible)),
        }

    def defaults(self) -> dict[str, Any]:
        """Return many small populations that begin anew when they no longer get better.

        Of many items, populations are larger and fewer. This is for choices that are repaired.
        """
        if not self.ranks_items:
            return {"algorithm": "ga", "encoding": "bits"}
        wanted = min(max(_FEWEST, self.size / _ITEMS_AN_INDIVIDUAL), _MOST)
        population = 1 << round(math.log2(wanted))
        is_small = self.size * self.constraints <= _SMALL
        return {
            "algorithm": "ga",
            "encoding": "bits",
            "islands": max(1, (_MANY if is_small else _FEW) // population),
            "population": population,
            "strength": 2,
            "reset": max(500, min(self.size, 5000)),
            "improver.name": "exchange22",
            "improver.strategy": "best",
            "improver.core": 60,
            "improver.every": 100,
            "improver.rate": 0.1,
            "migration.topology": "none",
            "record.every": 10 if is_small else 2,
        }

    def delta_items(self, move: str) -> int:
        """Return how many capacities are looked at."""
        return self.constraints

    def arrays(self) -> list[NDArray[np.generic]]:
        """Return the numbers in the order of the items on the device."""
        numbering = self.numbering()
        order = np.arange(self.size) if numbering is None else numbering
        weights = _narrowed(self.file.weights)[:, order]
        # What is more than all items weigh makes no difference.
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
        """Return the fine, in units of profit, for a unit of each constraint as it was scaled."""
        places = self.file.places or (0,) * self.constraints
        return np.array([self.settings.penalty * self.unit / 10.0**each for each in places])

    def costs(self, solutions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the profit of each row."""
        return solutions @ self.file.profits

    def loads(self, solution: Solution) -> NDArray[np.int64]:
        """Return what the chosen items take of each capacity."""
        return self.file.weights @ solution

    def check(self, solution: Solution) -> None:
        """Raise where `solution` is no choice of items, or exceeds a capacity."""
        if solution.shape != (self.size,) or not np.isin(solution, (0, 1)).all():
            raise RunError(
                f"not a choice of {self.instance}'s items: it has to say 0 or 1 for each of"
                f" {self.size}"
            )
        excess = self.loads(solution) - self.file.capacities
        if (excess > 0).any():
            first, *more = np.flatnonzero(excess > 0).tolist()
            others = f" ({_exceeded_too(more)})" if more else ""
            load, capacity = self.loads(solution)[first], self.file.capacities[first]

            def shown(number: np.int64) -> str:
                return self.file.shown(first, int(number))

            raise RunError(
                f"not feasible for {self.instance}: constraint {first + 1} of {self.constraints}:"
                f" the chosen items take {shown(load)} of {shown(capacity)},"
                f" {shown(excess[first])} too much{others}"
            )

    @classmethod
    def read(
        cls,
        path: Path,
        instance: str | None = None,
        best_known: BestKnown | None = None,
        form: str = "drake",
        part: int | None = None,
    ) -> Self:
        """Return an instance in a file of that format; `part` is its number in a file of many."""
        return cls(read_mkp(path, form, part), instance or str(path), best_known)

    def read_solution(self, path: Path) -> Solution:
        """Return the choice in a `.sol` file, a JSON file or a run's folder."""
        return read_sol(path, self.size)

    def write_solution(self, path: Path, solution: Solution, cost: int) -> None:
        """Write the chosen items' numbers."""
        write_sol(path, solution)

    def _scales(self) -> list[int]:
        """Return what the weights of each constraint are multiplied by to be added up with others.

        Then all have as many decimals as those with the most of them, and none are left.
        """
        if self.settings.infeasible != "dynamic":
            return [1] * self.constraints
        places, totals = self.file.places or (0,) * self.constraints, self._totals()
        most = max((place for place, total in zip(places, totals, strict=True) if total), default=0)
        # Nothing times any number is nothing, and that number may be more than 64 bits hold.
        return [
            10 ** (most - place) if total else 0
            for place, total in zip(places, totals, strict=True)
        ]

    def _totals(self) -> list[int]:
        """Return what all items weigh together, for each constraint."""
        return [int(total) for total in self.file.weights.sum(axis=1)]

    def _check_fines(self) -> None:
        """Raise where what is fined, over all constraints, could be too large for 64 bits."""
        scales = self._scales()
        total = sum(scale * each for scale, each in zip(scales, self._totals(), strict=True))
        if total >= SUM_MAX:
            scaled = ", with all decimals scaled away," if max(scales) > 1 else ""
            raise InputError(
                f"{self.path or self.instance}: all weights{scaled} add up to {total}, and"
                f" infeasible={self.settings.infeasible} is exact below {SUM_MAX} only. Choose"
                " infeasible=repair or infeasible=drop"
            )

    def _load_type(self) -> str:
        return "int32_t" if max(self._totals(), default=0) < 2**31 else _WIDEST


def _exceeded_too(constraints: Sequence[int]) -> str:
    """Return the words for constraints, counted from 0, that are exceeded beside the first one."""
    shown = ", ".join(str(each + 1) for each in constraints[:_NAMED])
    rest = f" and {len(constraints) - _NAMED} more" if constraints[_NAMED:] else ""
    return f"{shown}{rest} {'are' if constraints[1:] else 'is'} exceeded too"


def _narrowed(numbers: NDArray[np.int64]) -> NDArray[np.generic]:
    """Return the numbers in the narrowest type of the device that holds them."""
    largest = int(numbers.max(initial=0))
    for kind in _C_TYPES:
        if largest <= np.iinfo(kind).max:
            return numbers.astype(kind)
    return numbers


def _c_type(numbers: NDArray[np.int64]) -> str:
    return _C_TYPES.get(_narrowed(numbers).dtype.name, _WIDEST)
