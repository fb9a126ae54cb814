"""The core of a knapsack: the items that a search exchanges, and the prices of overloads.

The core consists of the items whose reduced profit is closest to zero at given prices of the
capacities, such as the duals of the linear relaxation: good solutions differ from the relaxation
only in these. A subset may exceed capacities; its energy is its negated profit plus the price of
all overloads. Numbers are scaled and rounded to the types of kernels/tempering/core_state.cuh.

Core concept: J. Puchinger, G. R. Raidl, U. Pferschy: The multidimensional knapsack problem:
structure and algorithms. INFORMS Journal on Computing 22, 2010.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from islands.instances.mkp import MkpFile
from islands.problems.utilities import DIGITS, fitting, rounded

MOST_CONSTRAINTS = 512
"""Maximum number: more need too much memory of a multiprocessor, and sums may exceed 32 bits."""

_LARGEST = (1 << 13) - 1  # a weight on the device: sums of a few fit into 16 bits
_MOST_PRICE, _MOST_SCALE, _MOST_GAIN = 127, 512.0, float(1 << 22)
_LEVELS, _TOGETHER, _PARTS, _KEY = 1024, 16, 4096, 1
_SPARE = 24  # capacity for items that are not chosen, beyond those of the relaxation


class CoreVariant(NamedTuple):
    """The size of a core and the prices of overloads, relative to defaults."""

    size: float
    """Number of items of the core, relative to the default."""
    factor: float
    """Price of a capacity, relative to its dual."""
    least: float
    """Minimum price of an item of mean weight in a constraint, relative to the mean over all
    constraints."""


VARIANTS = (
    CoreVariant(1.0, 1.35, 1.3),
    CoreVariant(5 / 3, 5.0, 4.0),
    CoreVariant(7 / 6, 1.35, 1.3),
    CoreVariant(5 / 3, 1.2, 1.3),
    CoreVariant(4 / 3, 3.0, 2.0),
    CoreVariant(5 / 3, 2.5, 2.0),
)
"""A ladder switches to the next variant when it stagnates. The best one depends on the instance:
low prices for 500 items and 30 constraints, high ones for 250 items or weights of zero."""

_FEWEST, _PER_CONSTRAINT, _MOST = 40, 2, 96
"""The default size is `_FEWEST`, plus `_PER_CONSTRAINT` for each binding constraint, but at most
`_MOST`; see docs/design/knapsacks.md."""


@dataclass(frozen=True)
class Core:
    """The core of an instance, with the items in the order of the device."""

    file: MkpFile
    find_numbering: Callable[[], NDArray[np.int64]]
    """Returns the index in the file of each item on the device; called only when needed."""
    find_duals: Callable[[], NDArray[np.float64]]
    """Returns the price of a unit of each capacity, in units of profit."""
    variants: tuple[CoreVariant, ...] = VARIANTS

    @cached_property
    def numbering(self) -> NDArray[np.int64]:
        """The index in the file of each item on the device."""
        return self.find_numbering()

    @cached_property
    def duals(self) -> NDArray[np.float64]:
        """The price of a unit of each capacity."""
        return self.find_duals()

    @cached_property
    def _fitting(self) -> NDArray[np.bool_]:
        """Whether each item of the file fits into an empty knapsack; others are never chosen."""
        return fitting(self.file)

    @cached_property
    def _weights(self) -> NDArray[np.int64]:
        """The weights of the items that fit, which determine the scale; 0 for the others."""
        return self.file.weights * self._fitting

    @cached_property
    def _profits(self) -> NDArray[np.int64]:
        return self.file.profits * self._fitting

    @cached_property
    def _binding(self) -> NDArray[np.int64]:
        """The constraints that can be violated, most expensive first."""
        totals = self._weights.sum(axis=1)
        volumes = self._volumes(np.arange(len(totals)))
        order = np.argsort(-volumes, kind="stable")
        binding: NDArray[np.int64] = order[(totals > self.file.capacities)[order]]
        return binding

    def _volumes(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the price of an item of mean weight for each constraint."""
        return rounded(self.duals[rows] * self._weights[rows].mean(axis=1))

    @property
    def pairs(self) -> int:
        """Number of pairs of binding constraints: a word on the device has two weights."""
        return max(1, -(-len(self._binding) // 2))

    @cached_property
    def _reduced(self) -> NDArray[np.float64]:
        """The reduced profit of each item on the device: its profit minus its priced weight."""
        file = self.file
        priced = self.duals @ file.weights.astype(np.float64)
        reduced = (file.profits - priced) / max(1, int(self._profits.max(initial=0)))
        return rounded(np.rint(reduced * 10.0**DIGITS)[self.numbering])

    @cached_property
    def _fits(self) -> NDArray[np.bool_]:
        """Whether each item on the device fits into an empty knapsack."""
        return self._fitting[self.numbering]

    @cached_property
    def items(self) -> NDArray[np.int32]:
        """The items of the largest core, sorted by absolute reduced profit."""
        order = np.lexsort((np.abs(self._reduced), ~self._fits))
        return order[: self.largest].astype(np.int32)

    @cached_property
    def sizes(self) -> list[int]:
        """The size of the core of each variant."""
        most = max(1, int(self._fits.sum()))
        default = min(_MOST, _FEWEST + _PER_CONSTRAINT * len(self._binding))
        return [min(round(variant.size * default), most) for variant in self.variants]

    @property
    def largest(self) -> int:
        """The size of the largest core."""
        return max(self.sizes)

    @cached_property
    def rounded(self) -> NDArray[np.bool_]:
        """Whether each reduced profit is positive; at optimal duals, these items fit together."""
        return (self._reduced > 0) & self._fits

    @property
    def places(self) -> int:
        """Length of the list of items that are not chosen; a multiple of 16."""
        free = self.largest - int(self.rounded[self.items].sum())
        return -(-(min(self.largest, free + _SPARE) + 1) // _TOGETHER) * _TOGETHER

    @property
    def launch_key(self) -> Hashable:
        """The sizes on which programs and structs depend."""
        return self.pairs, self.largest, self.places

    @cached_property
    def shifts(self) -> NDArray[np.int32]:
        """Number of low bits dropped from the weights of each binding constraint on the device."""
        most = self._weights[self._binding].max(axis=1, initial=0).tolist()
        return np.array(
            [max(0, weight.bit_length() - _LARGEST.bit_length()) for weight in most], "i4"
        )

    @cached_property
    def _exact_prices(self) -> NDArray[np.float64]:
        """The exact price of a device unit of each binding constraint, for each variant."""
        rows = self._binding
        volumes, means = self._volumes(rows), self._weights[rows].mean(axis=1)
        mean = volumes.mean() if len(rows) else 0.0
        mean = mean if mean > 0 else 1.0
        prices = [
            np.maximum(variant.factor * volumes, variant.least * mean) / means * 2.0**self.shifts
            for variant in self.variants
        ]
        return rounded(np.array(prices).reshape(len(self.variants), len(rows)))

    @cached_property
    def scale(self) -> float:
        """Units of energy per unit of profit."""
        most_price = max(1, min(_MOST_PRICE, _MOST_PRICE * MOST_CONSTRAINTS // (2 * self.pairs)))
        by_price = most_price / max(float(self._exact_prices.max(initial=0.0)), 1e-300)
        by_gain = _MOST_GAIN / max(1, int(self._profits.max(initial=0)))
        scale = min(_MOST_SCALE, by_price, by_gain)
        return float(math.floor(scale)) if scale >= 16 else scale

    @cached_property
    def prices(self) -> NDArray[np.int64]:
        """The price per unit of each half of a device word, for each variant."""
        prices = np.clip(np.rint(self._exact_prices * self.scale), 1, _MOST_PRICE).astype(np.int64)
        return np.pad(prices, ((0, 0), (0, 2 * self.pairs - len(self._binding))))

    @property
    def unit(self) -> float:
        """The mean profit of an item of the core, as an energy."""
        profits = self._profits[self.numbering][self.items]
        return max(1.0, self.scale * int(profits.sum()) / len(profits))

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """The weights of each item on the device, a column per half of a word."""
        rounded = self._weights[self._binding] >> self.shifts[:, np.newaxis]
        padded = np.pad(rounded, ((0, 2 * self.pairs - len(rounded)), (0, 0)))
        return np.ascontiguousarray(padded.T[self.numbering])

    @property
    def gains(self) -> NDArray[np.int32]:
        """The scaled profit of each item."""
        scaled = np.floor(self.scale * self._profits[self.numbering])
        return np.asarray(scaled, np.int32)

    @property
    def slops(self) -> NDArray[np.int32]:
        """The price of overloads that rounding may cause, for each variant."""
        rounds = np.pad(self.shifts > 0, (0, 2 * self.pairs - len(self.shifts)))
        return np.asarray((self.prices * rounds).sum(axis=1), np.int32)

    def tables(self, pitch: int) -> dict[str, NDArray[Any]]:
        """Return the tables of kernels/tempering/chains/core.cuh, and the unit of temperatures."""
        spare = 2 * self.pairs - len(self._binding)
        bits = np.zeros(32 * pitch, np.uint8)
        bits[: len(self.rounded)] = self.rounded
        return {
            "unit": np.array([self.unit]),
            "packed": np.ascontiguousarray(self.weights.astype("<u2")).view("<u4"),
            "gains": self.gains,
            "rows": np.pad(self._binding, (0, spare), constant_values=-1).astype(np.int32),
            "shifts": np.pad(self.shifts, (0, spare)),
            "core": self.items,
            "rounded": np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32),
            "levels": levels(),
            "sizes": np.array(self.sizes, np.int32),
            "prices": self._negative_bytes(),
            "slops": self.slops,
            "scale": np.array([self.scale]),
        }

    def _negative_bytes(self) -> NDArray[np.uint32]:
        spare = -self.prices.shape[1] % 4
        padded = np.pad(-self.prices, ((0, 0), (0, spare))).astype(np.int8)
        return np.ascontiguousarray(padded).view("<u4").astype(np.uint32)


@cache
def levels() -> NDArray[np.float32]:
    """Return quantiles of the exponential distribution in a random order.

    They are multiples of a power of two, so that results are bit-identical on all machines.
    """
    spread = -np.log((np.arange(_LEVELS) + 0.5) / _LEVELS)
    rounded = np.rint(spread * _PARTS) / _PARTS
    order = np.argsort(np.random.Philox(key=_KEY).random_raw(_LEVELS), kind="stable")
    shuffled = rounded[order]
    return np.concatenate([shuffled, shuffled[:_TOGETHER]]).astype(np.float32)
