"""Search on subsets in plain Python, which weighs every neighbour from scratch, and on a device."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy_islands import TENURE, Place, words
from numpy_mkp import packed, unpacked
from problems_for_tests import knapsack

from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.backends.source import Source
from islands.improvers import Improver, ImproverSettings, improvers_for
from islands.paths import data_folder
from islands.problems.mkp import Mkp, MkpSettings

Choice = list[int]
Items = tuple[int, ...]


class NumpyKnapsack:
    """An instance with its items as the device numbers them."""

    def __init__(self, problem: Mkp) -> None:
        order = problem.numbering()
        self.weights, self.profits = problem.file.weights[:, order], problem.file.profits[order]
        self.capacities, self.marks = problem.file.capacities, problem.scale.marks

    def fits(self, chosen: Choice) -> bool:
        return bool((self.weights @ np.array(chosen) <= self.capacities).all())

    def cost(self, chosen: Choice) -> int:
        """Return the cost on the device of a feasible choice."""
        return -int(self.profits @ np.array(chosen)) * (2 if self.marks else 1)


@dataclass
class NumpySearch:
    """What both searches have in common."""

    knapsack: NumpyKnapsack
    core: int = 0
    steps: int = 0

    def sides(self, chosen: Choice, border: int) -> tuple[list[int], list[int]]:
        """Return the items that may leave, least profitable first, and those that may enter."""
        n = len(chosen)
        size = min(self.core or n, n)
        first = min(max(border - size // 2, 0), n - size)
        by_profit = sorted(range(first, first + size), key=lambda item: -self.profit((item,)))
        leaving = [item for item in reversed(by_profit) if chosen[item]]
        return leaving, [item for item in by_profit if not chosen[item]]

    def profit(self, items: Items) -> int:
        return int(sum(self.knapsack.profits[item] for item in items))

    def gain(self, leaving: Items, entering: Items) -> int:
        return self.profit(entering) - self.profit(leaving)

    def after(self, chosen: Choice, leaving: Items, entering: Items) -> Choice:
        turned = leaving + entering
        return [bit ^ (item in turned) for item, bit in enumerate(chosen)]

    def fits(self, chosen: Choice, leaving: Items, entering: Items) -> bool:
        return self.knapsack.fits(self.after(chosen, leaving, entering))


@dataclass
class NumpyLocal(NumpySearch):
    """Local search; a move changes at most `most` items."""

    most: int = 1
    best: bool = False

    def neighbours(self, leaving: list[int], entering: list[int]) -> Iterator[tuple[Items, Items]]:
        several = [(), *((item,) for item in leaving), *combinations(leaving, 2)]
        for outs in several:
            for i, item in enumerate(entering):
                pairs = [(item, other) for other in entering[i + 1 :]]
                for ins in [*pairs, (item,)]:
                    balanced = abs(len(ins) - len(outs)) <= 1
                    if balanced and len(outs) + len(ins) <= self.most:
                        yield outs, ins

    def improve(self, chosen: Choice, place: Place) -> tuple[Choice, int]:
        """Return the improved subset and the number of neighbours evaluated."""
        calls, made, border = 0, 0, sum(chosen)
        while made < self.steps or self.steps == 0:
            found = None
            for number, (outs, ins) in enumerate(self.neighbours(*self.sides(chosen, border))):
                calls += 1
                gain = self.gain(outs, ins)
                if gain > 0 and self.fits(chosen, outs, ins):
                    found = min(found or (0,), (-gain, number, outs, ins))
                    if not self.best:
                        break
            if found is None:
                break
            chosen, made = self.after(chosen, *found[2:]), made + 1
        return chosen, calls


@dataclass
class NumpySubsetTabu(NumpySearch):
    """Tabu search; tenures in steps."""

    tenure_low: int = 1
    tenure_high: int = 1

    def __post_init__(self) -> None:
        self.kinds = dict.fromkeys(("in", "out", "both", "none", "worse", "aspired"), 0)

    def improve(self, chosen: Choice, place: Place) -> tuple[Choice, int]:
        """Return the best subset found and the number of neighbours evaluated."""
        drawn = [int(word) for word in words(4 * self.steps, TENURE, *place)]
        tenures = self.tenure_high - self.tenure_low + 1
        free_from: dict[int, int] = {}
        best, best_profit = chosen, int(self.knapsack.profits @ np.array(chosen))
        profit, calls, border = best_profit, 0, sum(chosen)
        for step in range(self.steps):
            leaving, entering = self.sides(chosen, border)
            found = None
            number = 0
            for outs in [(), *((item,) for item in leaving)]:
                for ins in [*((item,) for item in entering), ()]:
                    if not outs + ins:
                        continue
                    calls, number = calls + 1, number + 1
                    gain = self.gain(outs, ins)
                    free = all(free_from.get(item, 0) <= step for item in outs + ins)
                    leads = profit + gain > best_profit
                    if (free or leads) and self.fits(chosen, outs, ins):
                        found = min(found or (1 << 62,), (-gain, number, outs, ins, free))
            if found is None:
                self.kinds["none"] += 1
                continue
            loss, _, outs, ins, free = found
            self.kinds["both" if outs and ins else "in" if ins else "out"] += 1
            self.kinds["worse"] += loss > 0
            self.kinds["aspired"] += not free
            for items, word in ((outs, drawn[4 * step]), (ins, drawn[4 * step + 1])):
                for item in items:
                    free_from[item] = step + 1 + self.tenure_low + (word * tenures >> 32)
            chosen, profit = self.after(chosen, outs, ins), profit - loss
            if profit > best_profit:
                best, best_profit = chosen, profit
        return best, calls


KERNEL = os.path.relpath(
    Path(__file__).parents[1] / "improvers" / "near_subset.cuh", data_folder("kernels")
)

INFEASIBLE = 2 * 1234 + 1
"""A marked cost of an infeasible choice."""


def source_of(problem: Mkp, improver: Improver) -> Source:
    macros = {"COSTS_MARKED": str(int(problem.scale.marks)), "ISLANDS_IMPROVER": improver.header}
    return Source(KERNEL, problem.defines() | improver.defines() | macros)


def improved(
    backend: Backend, problem: Mkp, choices: list[Choice], threads: int = 32, **search: Any
) -> tuple[list[Choice], list[int], list[int]]:
    """Return choices improved on the device, in its order of items, with costs and evaluations."""
    n, count = problem.size, len(choices)
    settings = ImproverSettings.build(search)
    improver = improvers_for("subset")[settings.name](settings, n)
    data = Struct(**{f"array{i}": backend.upload(a) for i, a in enumerate(problem.arrays())})
    source = source_of(problem, improver)
    room = backend.required_room(source, np.int32(n), data, improver.plan())
    program = backend.compile(source, backend.block(room, 16 * threads, count, fewest=threads))
    device = NumpyKnapsack(problem)
    start = np.array([device.cost(c) if device.fits(c) else INFEASIBLE for c in choices])
    chosen, cost = backend.upload(packed(choices)), backend.upload(start)
    calls = backend.zeros((count,), np.int64)
    arguments = (np.int32(count), np.int32(n), data, improver.plan(), chosen, cost, calls)
    backend.run([backend.call(program, "check_improve", *arguments, blocks=count, room=room)])
    numbers = [backend.download(each).tolist() for each in (cost, calls)]
    return unpacked(backend.download(chosen), n).tolist(), numbers[0], numbers[1]


def ways(n: int, m: int, way: str = "repair", **changes: Any) -> Mkp:
    """Return a knapsack with a treatment of infeasible choices."""
    return knapsack(n, m, **changes).adjusted(MkpSettings(infeasible=way))


def feasible(problem: Mkp, count: int) -> list[Choice]:
    """Return random feasible choices, from empty to full."""
    rng, device = np.random.default_rng(problem.size), NumpyKnapsack(problem)
    found = []
    for share in np.linspace(0, 1, count):
        chosen = [0] * problem.size
        for item in rng.permutation(problem.size)[: round(share * problem.size)]:
            more = [*chosen]
            more[item] = 1
            chosen = more if device.fits(more) else chosen
        found.append(chosen)
    return found


def assert_same(
    backend: Backend, problem: Mkp, search: NumpySearch, threads: int = 32, **changes: Any
) -> None:
    """Improve choices on a device and in Python, and require equal results."""
    choices = feasible(problem, 6)
    device = NumpyKnapsack(problem)
    seen, costs, calls = improved(backend, problem, choices, threads, **changes)
    for row, choice in enumerate(choices):
        wanted, tried = search.improve(choice, (7, 3, 5, row))
        assert seen[row] == wanted
        assert costs[row] == device.cost(wanted)
        assert calls[row] == tried
