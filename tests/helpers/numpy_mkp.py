"""The treatments of infeasible choices in plain Python, item by item."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from numpy_streams import DROP, FILL, below, words

from islands.problems.mkp import Mkp


def evaluated(
    problem: Mkp, choice: NDArray[np.int64], seed: int, place: tuple[int, int, int], child: int = 0
) -> tuple[NDArray[np.int64], int]:
    """Return a choice after evaluation, in the file's order, and its cost on the device.

    `place` is island, generation and individual.
    """
    file, treatment = problem.file, problem.settings.infeasible
    choice = choice.copy()

    def feasible(tried: NDArray[np.int64]) -> bool:
        return bool((file.weights @ tried <= file.capacities).all())

    if treatment == "repair":
        by_utility = problem.orders[place[0] % len(problem.orders)]
        for item in by_utility[::-1]:
            if not feasible(choice):
                choice[item] = 0
        for item in by_utility:
            if not choice[item]:
                choice[item] = 1
                choice[item] = feasible(choice)
    fits_first = problem.settings.fit_first and place[1] == 0 and not feasible(choice)
    if treatment == "drop" or fits_first:
        step = 0
        while not feasible(choice):
            here = np.flatnonzero(choice)
            quad, number = divmod(step, 4)
            word = int(words(4, DROP, seed, *place, first_quad=child << 24 | quad)[number])
            choice[here[below(word, len(here))]] = 0
            step += 1
    if fits_first:
        first = below(words(1, FILL, seed, *place, first_quad=child)[0], problem.size)
        for item in [*range(first, problem.size), *range(first)]:
            if not choice[item]:
                choice[item] = 1
                choice[item] = feasible(choice)
    profit = int(file.profits @ choice)
    if treatment in ("repair", "drop"):
        return choice, -profit
    if feasible(choice):
        return choice, -2 * profit
    loads = file.weights @ choice
    if treatment == "linear":
        penalty = 0.0
        for price, excess in zip(problem.prices(), loads - file.capacities, strict=True):
            penalty += float(price) * max(0, int(excess))
        cost = int(penalty) - profit
    else:
        weight = weight_in_finest_unit(problem, loads)
        cost = int(np.float64(2**20) * float(weight) / float(profit)) + 1 if profit else 10**18
    return choice, 2 * cost + 1


def weight_in_finest_unit(problem: Mkp, loads: NDArray[np.int64]) -> int:
    """Return the sum of the loads in units of the file's last decimal."""
    file = problem.file
    written = [Fraction(file.shown(i, int(load))) for i, load in enumerate(loads)]
    weighing = [i for i, row in enumerate(file.weights) if row.any()]
    decimals = max((file.places[i] for i in weighing if file.places), default=0)
    weight = sum(written) * 10**decimals
    assert weight == int(weight)
    return int(weight)
