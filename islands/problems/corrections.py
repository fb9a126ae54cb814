"""Corrections of solutions created by operators, in NumPy; kernels apply the same ones."""

import heapq
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

_FACTOR, _STEP, _WORD = 0x915F77F5, 0x9E3779B9, 0xFFFFFFFF


def chosen_within(
    solutions: NDArray[Any], words: NDArray[np.uint32], least: int, most: int
) -> NDArray[Any]:
    """Return subsets with an allowed number of items: see kernels/problems/choice.cuh.

    `words` are the subsets as kernels store them.
    """
    corrected = solutions.copy()
    counts = solutions.sum(axis=1)
    for row in np.flatnonzero((counts < least) | (counts > most)):
        mixed = _STEP
        for word in words[row].tolist():
            mixed = ((mixed ^ word) * _FACTOR) & _WORD
            mixed ^= mixed >> 15
        count = int(counts[row])
        is_chosen = count > most
        for _ in range(count - most if is_chosen else least - count):
            mixed = (mixed * _FACTOR + _STEP) & _WORD
            items = np.flatnonzero(corrected[row] == int(is_chosen))
            corrected[row, items[mixed * len(items) >> 32]] ^= 1
    return corrected


def within_limits(solutions: NDArray[Any], most: NDArray[Any]) -> NDArray[Any]:
    """Return choices with a limited number of items per value: see kernels/problems/at_most.cuh."""
    corrected = solutions.copy()
    for row in corrected:
        counts = np.bincount(row, minlength=len(most))
        if (counts <= most).all():
            continue
        mixed = _STEP
        for value in row.tolist():
            mixed = ((mixed ^ value) * _FACTOR) & _WORD
            mixed ^= mixed >> 15
        before = np.zeros(len(most), np.int64)
        for item in np.roll(np.arange(len(row)), -(mixed * len(row) >> 32)):
            value = row[item]
            if before[value] >= most[value]:
                mixed = (mixed * _FACTOR + _STEP) & _WORD
                has_room = np.roll(counts < most, -(mixed * len(most) >> 32))
                value = ((mixed * len(most) >> 32) + int(has_room.argmax())) % len(most)
                counts[row[item]] -= 1
                counts[value] += 1
                row[item] = value
            before[value] += 1
    return corrected


class Precedence:
    """Precedence constraints of orders: the first item of each pair precedes the second."""

    def __init__(self, size: int, pairs: Sequence[tuple[int, int]]) -> None:
        self.pairs = sorted(set(pairs))
        self._ahead, self._behind = np.array(self.pairs, np.int64).reshape(-1, 2).T
        self._before: dict[int, list[int]] = {item: [] for item in range(size)}
        for one, other in self.pairs:
            self._before[other].append(one)

    def members(self) -> dict[str, NDArray[Any]]:
        """Return the predecessors of all items, and the start of each item's list, for kernels."""
        by_item = np.argsort(self._behind, kind="stable")
        counts = np.bincount(self._behind, minlength=len(self._before))
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        return {"_before_first": first, "_before": self._ahead[by_item].astype(np.int32)}

    def are_kept(self, orders: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which orders satisfy all pairs."""
        places = np.argsort(orders, axis=1)
        return np.asarray((places[:, self._ahead] < places[:, self._behind]).all(axis=1))

    def kept(self, orders: NDArray[Any]) -> NDArray[Any]:
        """Return the orders, corrected as in kernels/problems/precedence.cuh."""
        corrected = orders.copy()
        for row in np.flatnonzero(~self.are_kept(orders)):
            corrected[row] = self._placed(orders[row])
        return corrected

    def _placed(self, order: NDArray[Any]) -> list[int]:
        """Return the items as ordered, but each one after its predecessors."""
        place, sorter = np.argsort(order).tolist(), TopologicalSorter(self._before)
        ready, placed = list[tuple[int, int]](), list[int]()
        sorter.prepare()
        while sorter.is_active():
            for item in sorter.get_ready():
                heapq.heappush(ready, (place[item], item))
            placed.append(heapq.heappop(ready)[1])
            sorter.done(placed[-1])
        return placed

    def cycle(self) -> list[int]:
        """Return the items of a cycle, with the first one repeated at the end, or an empty list."""
        try:
            TopologicalSorter(self._before).prepare()
        except CycleError as error:
            cycle: list[int] = error.args[1]
            return cycle
        return []
