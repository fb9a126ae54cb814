"""Schedules computed in plain Python, to compare with those of job shops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations, product


def longest_path(
    machines: Sequence[Sequence[int]],
    times: Sequence[Sequence[int]],
    orders: dict[int, Sequence[tuple[int, int]]],
) -> int | None:
    """Return the end of the last job if each machine has this order; None if jobs wait in a circle.

    An operation is a job and its number.
    """
    waits: dict[tuple[int, int], set[tuple[int, int]]] = {
        (j, k): {(j, k - 1)} if k else set()
        for j, row in enumerate(machines)
        for k in range(len(row))
    }
    for order in orders.values():
        for before, after in pairwise(order):
            waits[after].add(before)
    ends: dict[tuple[int, int], int] = {}
    while len(ends) < len(waits):
        ready = [o for o, of in waits.items() if o not in ends and of <= ends.keys()]
        if not ready:
            return None
        for o in ready:
            ends[o] = max((ends[b] for b in waits[o]), default=0) + times[o[0]][o[1]]
    return max(ends.values())


def best_makespan(machines: Sequence[Sequence[int]], times: Sequence[Sequence[int]]) -> int:
    """Return the least end of the last job, by all orders of all machines."""
    operations: dict[int, list[tuple[int, int]]] = {}
    for j, row in enumerate(machines):
        for k, machine in enumerate(row):
            operations.setdefault(machine, []).append((j, k))
    found = [
        longest_path(machines, times, dict(zip(operations, orders, strict=True)))
        for orders in product(*(permutations(each) for each in operations.values()))
    ]
    return min(end for end in found if end is not None)
