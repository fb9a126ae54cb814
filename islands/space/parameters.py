"""The parameters of `islands.mixed`: their coordinates, entries and values.

A search moves coordinates between bounds. They are decoded to an equal number of entries of a
solution: the value of a number, the index of a choice, the items of an order, or a 0 or 1 for each
item of a subset. Users see values, such as `"adam"` instead of its index.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real as RealNumber
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from islands.calls import is_whole
from islands.errors import UsageError
from islands.space import exact
from islands.text import shown

Rows = NDArray[np.float64]
"""One row per solution."""


class Parameter(ABC):
    """The base class of parameters, defined by the values that they may have."""

    kind: ClassVar[str]
    """The name of the function of `islands.space` that returns it."""
    dtype: ClassVar[np.dtype[Any]]
    """The type of values in a column of many solutions."""

    @property
    def count(self) -> int:
        """The number of coordinates, and of entries in a solution."""
        return 1

    @property
    def is_list(self) -> bool:
        """Whether a value is an array of all entries."""
        return False

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """The bounds of the coordinates."""

    @abstractmethod
    def entries(self, coordinates: Any, module: Any) -> Any:
        """Decode coordinates to entries, in NumPy or CuPy arrays."""

    @abstractmethod
    def coordinates(self, entries: Rows) -> Rows:
        """Return coordinates that are decoded to these entries."""

    @abstractmethod
    def holds(self, entries: Rows) -> bool:
        """Return whether all rows are entries of allowed values."""

    @abstractmethod
    def words(self) -> str:
        """Return a description of the allowed values."""

    def value(self, entries: NDArray[Any]) -> Any:
        """Return the value of one solution, as `function=` and users see it."""
        return self.column(entries[np.newaxis])[0]

    def column(self, entries: Any) -> Any:
        """Return the values of many solutions, as `batch=` sees them."""
        return (entries if self.is_list else entries[:, 0]).astype(self.dtype)

    def entries_of(self, value: Any) -> NDArray[Any]:
        """Return the entries of a value; raise a `ValueError` if it has the wrong form."""
        entries = np.atleast_1d(np.asarray(value))
        if entries.shape != (self.count,) or (np.ndim(value) == 1) != self.is_list:
            raise ValueError
        if entries.dtype.kind not in ("biuf" if self.is_list else "iuf"):
            raise ValueError
        return entries.astype(np.float64)

    @abstractmethod
    def stored(self) -> dict[str, Any]:
        """Return the arguments of the constructor, for JSON."""


@dataclass(frozen=True)
class _Number(Parameter):
    """A number between two bounds."""

    low: Any
    high: Any
    log: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, self._bound(name, getattr(self, name)))
        if self.log is not True and self.log is not False:
            raise UsageError(f"space.{self.kind}: log={shown(self.log)}: must be True or False")
        both = f"space.{self.kind}({self.low}, {self.high}"
        if self.low > self.high or (self.low == self.high and self.kind == "real"):
            fix = "Swap them" if self.low > self.high else "Pass a constant instead"
            rule = "less than" if self.kind == "real" else "at most"
            raise UsageError(f"{both}): low must be {rule} high. {fix}")
        if self.log and self.low <= 0:
            raise UsageError(
                f"{both}, log=True): low must be above 0 with log=True. Raise it, or leave log out"
            )

    @abstractmethod
    def _bound(self, name: str, value: Any) -> float:
        """Convert a bound; reject one that is not a number of this kind."""

    def holds(self, entries: Rows) -> bool:
        return bool(((entries >= self.low) & (entries <= self.high)).all())

    def stored(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high, "log": self.log}

    def words(self) -> str:
        return f"from {self.low} to {self.high}"


@dataclass(frozen=True)
class Real(_Number):
    """A real number between two bounds."""

    kind, dtype = "real", np.dtype(np.float64)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.log and self.low < _NEAREST:
            raise UsageError(
                f"space.real: low={self.low}: must be at least {_NEAREST} with log=True. Raise it"
            )

    def _bound(self, name: str, value: Any) -> float:
        is_number = isinstance(value, RealNumber) and not isinstance(value, bool)
        if not is_number or not abs(value) <= _FARTHEST:
            raise UsageError(
                f"space.real: {name}={shown(value)}: must be a number from -1e300 to 1e300"
            )
        return float(value)

    @property
    def bounds(self) -> tuple[float, float]:
        return (exact.log(self.low), exact.log(self.high)) if self.log else (self.low, self.high)

    def entries(self, coordinates: Any, module: Any) -> Any:
        if not self.log:
            return coordinates
        return exact.exp(coordinates, module).clip(self.low, self.high)

    def coordinates(self, entries: Rows) -> Rows:
        return np.log(entries).clip(*self.bounds) if self.log else entries

    def value(self, entries: NDArray[Any]) -> Any:
        return float(entries[0])


@dataclass(frozen=True)
class Integer(_Number):
    """A whole number between two bounds, including them."""

    kind, dtype = "integer", np.dtype(np.int64)

    def _bound(self, name: str, value: Any) -> int:
        if not is_whole(value) or abs(int(value)) > _LARGEST:
            raise UsageError(
                f"space.integer: {name}={shown(value)}: must be a whole number from -2**52 to 2**52"
            )
        return int(value)

    @property
    def bounds(self) -> tuple[float, float]:
        if self.log:
            return exact.log(self.low), exact.log(self.high + 1)
        return float(self.low), float(self.high + 1)

    def entries(self, coordinates: Any, module: Any) -> Any:
        numbers = exact.exp(coordinates, module) if self.log else coordinates
        return module.floor(numbers).clip(self.low, self.high)

    def coordinates(self, entries: Rows) -> Rows:
        middle = entries + 0.5
        return (np.log(middle) if self.log else middle).clip(*self.bounds)

    def holds(self, entries: Rows) -> bool:
        return super().holds(entries) and bool((entries == np.floor(entries)).all())

    def value(self, entries: NDArray[Any]) -> Any:
        return int(entries[0])

    def words(self) -> str:
        return f"a whole number {super().words()}"


@dataclass(frozen=True)
class Category(Parameter):
    """One of several choices, which may be any objects; its entry is the index of the choice."""

    kind, dtype = "category", np.dtype(np.int64)
    choices: tuple[Any, ...]

    @classmethod
    def of(cls, choices: tuple[Any, ...]) -> Category:
        """Return a category of these choices; reject equal ones, which only a file may contain."""
        if not choices:
            raise UsageError('space.category: has no choices. Pass them, such as "a", "b"')
        known: dict[Any, Any] = {}
        for choice in choices:
            try:
                is_repeated = choice in known
            except TypeError:
                fix = "its name, or a tuple instead of a list"
                if len(choices) == 1:
                    fix = "choices one by one, such as space.category(*choices)"
                raise UsageError(
                    f"space.category: {shown(choice)} is not hashable. Pass {fix}"
                ) from None
            if is_repeated:
                first = known[choice]
                raise UsageError(
                    f"space.category: {shown(first)} and {shown(choice)} are equal. Leave one out"
                )
            if choice != choice:
                raise UsageError(
                    "space.category: NaN cannot be a choice, as it is not equal to itself. Pass"
                    " None instead"
                )
            known[choice] = choice
        return cls(choices)

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, float(len(self.choices))

    def entries(self, coordinates: Any, module: Any) -> Any:
        return module.floor(coordinates).clip(0, len(self.choices) - 1)

    def coordinates(self, entries: Rows) -> Rows:
        return entries + 0.5

    def holds(self, entries: Rows) -> bool:
        is_index = (entries >= 0) & (entries < len(self.choices)) & (entries == np.floor(entries))
        return bool(is_index.all())

    def value(self, entries: NDArray[Any]) -> Any:
        return self.choices[int(entries[0])]

    def entries_of(self, value: Any) -> NDArray[Any]:
        return np.array([float(self.choices.index(value))])

    def words(self) -> str:
        return f"one of {', '.join(map(shown, self.choices))}"

    def stored(self) -> dict[str, Any]:
        return {"choices": list(map(plain, self.choices))}


@dataclass(frozen=True)
class _Many(Parameter):
    """A list with an entry for each of n items, whose coordinates are from 0 to 1."""

    n: int

    def __post_init__(self) -> None:
        if not is_whole(self.n) or not 1 <= self.n <= MOST_ITEMS:
            raise UsageError(
                f"space.{self.kind}({shown(self.n)}): must be a whole number from 1 to {MOST_ITEMS}"
            )
        object.__setattr__(self, "n", int(self.n))

    @property
    def count(self) -> int:
        return self.n

    @property
    def is_list(self) -> bool:
        return True

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    def stored(self) -> dict[str, Any]:
        return {"n": self.n}


@dataclass(frozen=True)
class Order(_Many):
    """An order of n items by increasing coordinate; ties are broken by the item."""

    kind, dtype = "order", np.dtype(np.int32)

    def entries(self, coordinates: Any, module: Any) -> Any:
        if module is np:
            return coordinates.argsort(axis=-1, kind="stable").astype(np.float64)
        return coordinates.argsort(axis=-1).astype(module.float64)  # CuPy's sort is stable

    def coordinates(self, entries: Rows) -> Rows:
        return (entries.argsort(axis=-1) + 0.5) / self.n

    def holds(self, entries: Rows) -> bool:
        return bool((np.sort(entries, axis=-1) == np.arange(self.n)).all())

    def words(self) -> str:
        return f"a permutation of 0 to {self.n - 1}"


@dataclass(frozen=True)
class Subset(_Many):
    """A subset of n items: 1 for chosen ones, otherwise 0."""

    kind, dtype = "subset", np.dtype(np.int8)

    def entries(self, coordinates: Any, module: Any) -> Any:
        return (coordinates >= _HALF).astype(module.float64)

    def coordinates(self, entries: Rows) -> Rows:
        return 0.25 + 0.5 * entries

    def holds(self, entries: Rows) -> bool:
        return bool(((entries == 0) | (entries == 1)).all())

    def words(self) -> str:
        return f"{self.n} numbers that are 0 or 1"


_FARTHEST, _NEAREST, _LARGEST, _HALF = 1e300, 1e-300, 2**52, 0.5
MOST_ITEMS = 4096
"""Maximum number of items: a thread of a GPU has memory for all entries of a solution."""
KINDS: dict[str, type[Parameter]] = {
    kind.kind: kind for kind in (Real, Integer, Category, Order, Subset)
}


def restored(stored: Mapping[str, Any]) -> Parameter:
    """Return the parameter with this `kind` and the arguments that `stored` returned."""
    arguments = {name: value for name, value in stored.items() if name != "kind"}
    if "choices" in arguments:
        arguments["choices"] = tuple(arguments["choices"])
    return KINDS[stored["kind"]](**arguments)


def plain(value: Any) -> Any:
    """Return a value for JSON; an object that JSON cannot represent becomes its `repr`."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return np.flatnonzero(value).tolist() if value.dtype == Subset.dtype else value.tolist()
    return value if value is None or isinstance(value, str | bool | int | float) else repr(value)
