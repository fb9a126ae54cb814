"""The kinds of solutions: the form of a solution in Python, in CUDA and in files."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from islands.problems.capabilities import Layout
from islands.problems.corrections import Precedence, chosen_within, within_limits

MOST = 2**31 - 64
"""The largest number of items."""


ITEMS = "items"
"""The member of `struct Data` with the number of items of partitioned orders."""
STEP = "step"
"""A user-defined move."""
MOVES = ("swap", "reversal", "insertion", "rotation", "flip", "exchange", "setting", STEP)
"""The kinds of moves, in the order of `MoveKind` in kernels/problems/move_kinds.cuh."""


class SolutionKind(ABC):
    """The form of a solution of n items."""

    name: ClassVar[str]
    """`solution_kind` of results, and of problems unless `encoded_as` is another name."""
    made_by: ClassVar[str]
    """The function of `islands` that creates such problems from user functions."""
    dtype: ClassVar[np.dtype[Any]]
    """The type of an entry in a user's cost function."""
    words: ClassVar[str]
    """A description of a valid solution."""
    number: ClassVar[int]
    """The value of `SOLUTION_KIND` in kernels/problems/solution.cuh."""
    moves: ClassVar[tuple[str, ...]] = ()
    """The moves whose cost change a user's `delta` may return."""
    proposals: ClassVar[tuple[str, ...]] = ("setting",)
    """The moves that chains of tempering propose."""
    axes: ClassVar[tuple[str, str]] = ("coordinate", "value")
    """The axis labels of a plot, for index and entry; the latter is empty for subsets."""
    picture: ClassVar[str] = "The numbers of the solution."
    """The description of the plot."""

    may_leave: bool = False
    """Whether a move may lead to an invalid solution, which is then corrected."""

    def __init__(self, size: int, low: ArrayLike = 0.0, high: ArrayLike = 1.0) -> None:
        """Describe solutions of `size` items; vectors lie between `low` and `high`."""
        self.size, self.low, self.high = size, low, high

    @property
    def encoded_as(self) -> str:
        """`solution_kind` of problems: the kind that determines encodings and settings."""
        return self.name

    @property
    def layout(self) -> Layout:
        """The layout of solutions, for encodings."""
        return Layout()

    def presented(self, solutions: Any) -> Any:
        """Return a solution, or one per row, in the form that a user's Python function takes."""
        return solutions

    def array_of(self, solution: Any) -> NDArray[Any]:
        """Return a solution in the user-facing form as an array."""
        return np.asarray(solution)

    def lines(self, solution: NDArray[Any]) -> list[str]:
        """Return the lines of a solution file: the entries, possibly with comments."""
        return [str(entry) for entry in solution.tolist()]

    @property
    def rules(self) -> dict[str, str]:
        """The macros of kernels that correct solutions; empty if all are valid."""
        return {}

    @property
    def options(self) -> dict[str, Any]:
        """The stored constructor arguments besides the size and the bounds."""
        return {}

    def corrected(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return solutions created by operators, corrected as in kernels."""
        return solutions

    @property
    def largest(self) -> int | None:
        """The largest entry of a solution of whole numbers; None for real entries."""
        return None

    @property
    def box(self) -> dict[str, ArrayLike]:
        """Arguments for encodings: the bounds of vectors, or the values and groups of choices."""
        return {}

    @property
    def members(self) -> dict[str, NDArray[Any] | np.generic]:
        """The members of `struct Data` with the bounds or the rules for kernels."""
        return {}

    def moving(self, moves: Sequence[str]) -> dict[str, str]:
        """Return the macros of kernels that propose these moves."""
        stated = sum(1 << MOVES.index(move) for move in moves)
        return {"SOLUTION_KIND": str(self.number), "STATED_MOVES": str(stated)}

    @staticmethod
    def listed(solution: Any) -> Any:
        """Return a solution for JSON."""
        entries: list[int] | list[float] = solution.tolist()
        return entries

    @abstractmethod
    def holds(self, solutions: NDArray[Any]) -> bool:
        """Return whether all rows are valid solutions."""

    def fault(self, solution: NDArray[Any]) -> str:
        """Return the fault of an invalid solution, for a message."""
        return f"is not {self.words}"

    @abstractmethod
    def drawn(self, count: int, seed: int) -> NDArray[Any]:
        """Return random solutions, one per row."""

    def extremes(self) -> list[ArrayLike]:
        """Return the solutions with the most extreme entries."""
        return [np.zeros(self.size), np.ones(self.size)]

    def stored_dtype(self, *, in_tiles: bool) -> np.dtype[Any]:
        """Return the type of the words that store a solution in kernels."""
        return self.dtype

    @property
    def stored_length(self) -> int:
        """Number of words of a solution in kernels."""
        return self.size

    def stored(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return solutions in the layout of kernels."""
        return np.ascontiguousarray(solutions, self.dtype)

    def encoded(self, solutions: NDArray[Any]) -> NDArray[Any]:
        """Return solutions in the layout of encodings; the reverse of `read`."""
        return self.stored(solutions)

    def read(self, stored: Any) -> Any:
        """Return the solutions that kernels have stored."""
        return stored


class OrderKind(SolutionKind):
    """An order of n items: the item at each place."""

    name, made_by, number = "order", "permutation", 0
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.int32)
    words = "a permutation of 0 to n - 1"
    moves = ("swap", "reversal", "insertion")
    proposals = (*moves, "rotation")
    axes, picture = ("place", "item"), "The item at each place."

    def __init__(
        self,
        size: int,
        *bounds: ArrayLike,
        before: Sequence[Sequence[int]] = (),
        parts: int | None = None,
    ) -> None:
        """Describe orders of `size` entries, separators included; `before` has pairs of items."""
        super().__init__(size, *bounds)
        self.parts, self.before = parts, None
        if before:
            self.before = Precedence(size, [(int(one), int(other)) for one, other in before])
            self.may_leave = True
            self.words = (  # type: ignore[misc]
                "a permutation of 0 to n - 1 in which each pair of before= is in the given order"
            )

    @property
    def rules(self) -> dict[str, str]:
        return {} if self.before is None else {"STATED_BEFORE": "1"}

    @property
    def options(self) -> dict[str, Any]:
        pairs = {} if self.before is None else {"before": self.before.pairs}
        return pairs | ({} if self.parts is None else {"parts": self.parts})

    @property
    def members(self) -> dict[str, NDArray[Any] | np.generic]:
        members: dict[str, NDArray[Any] | np.generic] = {}
        if self.parts is not None:
            members[ITEMS] = np.int64(self.items)
        if self.before is not None:
            members |= self.before.members()
        return members

    @property
    def items(self) -> int:
        """The number of items without separators."""
        return self.size - (self.parts or 1) + 1

    def split(self, solution: NDArray[Any]) -> list[NDArray[Any]]:
        """Return the parts of a solution, without the separators."""
        separators = np.flatnonzero(solution >= self.items)
        return [part[part < self.items] for part in np.split(solution, separators)]

    def corrected(self, solutions: NDArray[Any]) -> NDArray[Any]:
        return solutions if self.before is None else self.before.kept(solutions)

    @property
    def largest(self) -> int | None:
        return self.size - 1

    def stored_dtype(self, *, in_tiles: bool) -> np.dtype[Any]:
        return np.dtype(np.uint16) if in_tiles and self.size <= 1 << 16 else self.dtype

    def holds(self, solutions: NDArray[Any]) -> bool:
        if not (np.sort(solutions, axis=1) == np.arange(self.size)).all():
            return False
        return self.before is None or bool(self.before.are_kept(solutions).all())

    def drawn(self, count: int, seed: int) -> NDArray[Any]:
        keys = np.random.default_rng(seed).random((count, self.size))
        return self.corrected(keys.argsort(axis=1).astype(self.dtype))

    def extremes(self) -> list[ArrayLike]:
        both = np.stack([np.arange(self.size), np.arange(self.size)[::-1]])
        return list(self.corrected(both))


class SubsetKind(SolutionKind):
    """Some of n items: 1 for each chosen item, otherwise 0."""

    name, made_by, number = "subset", "subset", 1
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.int8)
    words = "a 0 or 1 for each item"
    proposals = ("flip", "exchange")
    axes, picture = ("item", ""), "The chosen items."

    def __init__(self, size: int, *bounds: ArrayLike, choose: Sequence[int] | None = None) -> None:
        """Describe subsets; `choose` has the minimum and the maximum number of chosen items."""
        super().__init__(size, *bounds)
        self.choose: tuple[int, int] | None = None
        if choose is None:
            return
        least, most = self.choose = choose[0], choose[1]
        if least == most:
            self.words = f"a choice of exactly {most} items"  # type: ignore[misc]
            self.proposals = ("exchange",)  # type: ignore[misc, assignment]
        else:
            self.words = f"a choice of {least} to {most} items"  # type: ignore[misc]
            self.may_leave = True

    @property
    def rules(self) -> dict[str, str]:
        if self.choose is None:
            return {}
        return {"STATED_LEAST": str(self.choose[0]), "STATED_MOST": str(self.choose[1])}

    @property
    def options(self) -> dict[str, Any]:
        return {} if self.choose is None else {"choose": self.choose}

    def corrected(self, solutions: NDArray[Any]) -> NDArray[Any]:
        if self.choose is None:
            return solutions
        return chosen_within(solutions, self.stored(solutions), *self.choose)

    @property
    def largest(self) -> int | None:
        return 1

    @staticmethod
    def listed(solution: Any) -> Any:
        """Return the chosen items."""
        items: list[int] = np.flatnonzero(solution).tolist()
        return items

    def holds(self, solutions: NDArray[Any]) -> bool:
        is_binary = bool(((solutions == 0) | (solutions == 1)).all())
        if self.choose is None or not is_binary:
            return is_binary
        counts = solutions.sum(axis=1)
        return bool(((counts >= self.choose[0]) & (counts <= self.choose[1])).all())

    def drawn(self, count: int, seed: int) -> NDArray[Any]:
        random = np.random.default_rng(seed)
        if self.choose is not None:
            ranks = random.random((count, self.size)).argsort(axis=1)
            least, most = self.choose
            sizes = most if least == most else random.integers(least, most + 1, (count, 1))
            return (ranks < sizes).astype(self.dtype)
        shares = random.random((count, 1))  # subsets of all sizes
        return (random.random((count, self.size)) < shares).astype(self.dtype)

    def extremes(self) -> list[ArrayLike]:
        if self.choose is None:
            return super().extremes()
        items = np.arange(self.size)
        return [items < self.choose[0], items >= self.size - self.choose[1]]

    def stored_dtype(self, *, in_tiles: bool) -> np.dtype[Any]:
        return np.dtype(np.uint32)

    @property
    def stored_length(self) -> int:
        return -(-self.size // 32)

    def stored(self, solutions: NDArray[Any]) -> NDArray[Any]:
        words = np.zeros((len(solutions), 4 * self.stored_length), np.uint8)
        packed = np.packbits(np.asarray(solutions, np.uint8), axis=1, bitorder="little")
        words[:, : packed.shape[1]] = packed
        return words.view("<u4").astype(np.uint32)

    def read(self, stored: Any) -> Any:
        places = array_module(stored).arange(32, dtype=np.uint32)
        bits = stored[..., np.newaxis] >> places & np.uint32(1)
        return bits.reshape(len(stored), 32 * self.stored_length)[:, : self.size].astype(self.dtype)


class KeysKind(SolutionKind):
    """A random key for each of n items."""

    name, made_by, number = "keys", "keys", 2
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float32)
    words = "n numbers of at least 0 and below 1"

    def holds(self, solutions: NDArray[Any]) -> bool:
        return bool(((solutions >= 0) & (solutions < 1)).all())

    def drawn(self, count: int, seed: int) -> NDArray[Any]:
        words = np.random.default_rng(seed).integers(1 << 24, size=(count, self.size))
        return (words / float(1 << 24)).astype(self.dtype)

    def extremes(self) -> list[ArrayLike]:
        below_one = np.nextafter(np.float32(1), np.float32(0))
        return [np.zeros(self.size), np.full(self.size, below_one)]


class VectorKind(SolutionKind):
    """A vector within bounds."""

    name, made_by, number = "vector", "real", 3
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)
    words = "a vector within the bounds"

    @property
    def box(self) -> dict[str, ArrayLike]:
        return {"low": self.low, "high": self.high}

    @property
    def members(self) -> dict[str, NDArray[Any] | np.generic]:
        low, high = self.bounds()
        return {"box_low": low, "box_width": high - low, "box_high": high}

    def bounds(self, module: Any = np) -> tuple[Any, Any]:
        """Return both bounds as NumPy or CuPy arrays."""
        return module.asarray(self.low, np.float64), module.asarray(self.high, np.float64)

    def holds(self, solutions: NDArray[Any]) -> bool:
        low, high = self.bounds()
        return bool(((solutions >= low) & (solutions <= high)).all())

    def encoded(self, solutions: NDArray[Any]) -> NDArray[Any]:
        low, high = self.bounds()
        return self.stored((solutions - low) / (high - low))

    def read(self, stored: Any) -> Any:
        module = array_module(stored)
        low, high = self.bounds(module)
        return module.minimum(low + (high - low) * stored, high)

    def drawn(self, count: int, seed: int) -> NDArray[Any]:
        units = np.random.default_rng(seed).random((count, self.size))
        return np.asarray(self.read(units))

    def extremes(self) -> list[ArrayLike]:
        return [self.low, self.high]


class ChoicesKind(SolutionKind):
    """A choice of one value for each of n items."""

    name, made_by, number = "choices", "choices", 4
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.int32)
    words = "a value from 0 to k - 1 for each item"
    moves = ("setting", "swap")
    proposals = moves
    axes, picture = ("item", "value"), "The value of each item."

    def __init__(
        self,
        size: int,
        *bounds: ArrayLike,
        sizes: Sequence[int] | int = 2,
        groups: Sequence[int] | None = None,
        at_most: Sequence[int] | None = None,
    ) -> None:
        """Describe choices; `sizes` has the number of values of each item, `groups` its group.

        `at_most` limits the number of items per value.
        """
        super().__init__(size, *bounds)
        self.sizes = np.array(np.broadcast_to(sizes, size), np.int32)
        self.groups = None if groups is None else np.asarray(groups, np.int64)
        self.at_most = None if at_most is None else np.asarray(at_most, np.int32)
        if self.at_most is not None:
            self.words = (  # type: ignore[misc]
                f"{type(self).words}, and no value for more items than at_most= allows"
            )
            if self.at_most.sum() == size:
                self.proposals = ("swap",)  # type: ignore[misc, assignment]

    @property
    def options(self) -> dict[str, Any]:
        is_same = (self.sizes == self.sizes[0]).all()
        sizes = int(self.sizes[0]) if is_same else self.sizes.tolist()
        lists = {name: numbers.tolist() for name, numbers in self._given().items()}
        return {"sizes": sizes, **lists}

    def _given(self) -> dict[str, NDArray[Any]]:
        """Return the groups and limits, if any."""
        arrays = {"groups": self.groups, "at_most": self.at_most}
        return {name: array for name, array in arrays.items() if array is not None}

    @property
    def rules(self) -> dict[str, str]:
        return {} if self.at_most is None else {"STATED_AT_MOST": str(len(self.at_most))}

    def corrected(self, solutions: NDArray[Any]) -> NDArray[Any]:
        return solutions if self.at_most is None else within_limits(solutions, self.at_most)

    @property
    def largest(self) -> int | None:
        return int(self.sizes.max()) - 1

    @property
    def box(self) -> dict[str, ArrayLike]:
        return {"sizes": self.sizes, **self._given()}

    @property
    def members(self) -> dict[str, NDArray[Any] | np.generic]:
        limits = {} if self.at_most is None else {"_most": self.at_most}
        return {"_sizes": self.sizes, **limits}

    def holds(self, solutions: NDArray[Any]) -> bool:
        if not self._are_values(solutions).all():
            return False
        return self.at_most is None or bool((self.room(solutions) >= 0).all())

    def _are_values(self, solutions: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each entry is a value of its item."""
        is_whole = solutions == np.floor(solutions)
        return np.asarray(is_whole & (solutions >= 0) & (solutions < self.sizes))

    def fault(self, solution: NDArray[Any]) -> str:
        wrong = np.flatnonzero(~self._are_values(solution))
        if wrong.size:
            item = int(wrong[0])
            return (
                f"item {item} has the value {solution[item]}, but must have a whole number from 0"
                f" to {self.sizes[item] - 1}"
            )
        assert self.at_most is not None, "otherwise, it is valid"
        count = np.bincount(solution.astype(np.int64), minlength=len(self.at_most))
        value = int(np.argmax(count > self.at_most))
        return (
            f"{count[value]} items have the value {value}, but at_most= allows"
            f" {self.at_most[value]}"
        )

    def room(self, solutions: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of further items that may have each value, for each solution."""
        assert self.at_most is not None, "it has limits"
        values = len(self.at_most)
        numbered = solutions.astype(np.int64) + values * np.arange(len(solutions))[:, np.newaxis]
        counts = np.bincount(numbered.ravel(), minlength=values * len(solutions))
        return np.asarray(self.at_most - counts.reshape(-1, values), np.int64)

    def drawn(self, count: int, seed: int) -> NDArray[Any]:
        random = np.random.default_rng(seed)
        chosen = random.integers(self.sizes, size=(count, self.size), dtype=self.dtype)
        return self.corrected(chosen)

    def extremes(self) -> list[ArrayLike]:
        return list(self.corrected(np.stack([np.zeros(self.size, np.int32), self.sizes - 1])))


def array_module(array: Any) -> Any:
    """Return the module of an array: NumPy, or CuPy for an array on a GPU."""
    return sys.modules[type(array).__module__.partition(".")[0]]
