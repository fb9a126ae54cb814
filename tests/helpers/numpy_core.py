"""Tempering of a knapsack in plain Python: one exchange of core items after another."""

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy_chains import NumpyChains
from numpy_islands import MUTANT, START, Place, words
from numpy_mkp import evaluated
from numpy_tempering import BEGIN, NEWCOMER, Replica, proposal_words

from islands.problems.mkp import Mkp

NOTHING, TOLL, LEVELS, TOGETHER, MOST_LEFT = -1, 300, 1024, 16, 1 << 14


@dataclass
class Lists:
    """The items of the core that are chosen, and those that are free."""

    chosen: list[int]
    free: list[int]


class NumpyCore(NumpyChains):
    """Ladders of replicas that exchange items of the core."""

    end_shares = 5e-5, 3e-3

    def __init__(
        self, problem: Mkp, *, islands: int, population: int, seed: int, rungs: int,
        proposals: int, patience: int, tuning: int, low: float, high: float,
        given: tuple[Any, ...] = (),
    ) -> None:  # fmt: skip
        self.problem, self.core, self.encoding = problem, problem.core, "bits"
        self.kind = "subset"
        self.n, self.proposals, self.cycle, self.seed = problem.size, proposals, 0, seed
        self.population, self.rungs, self.reset = population, rungs, 0
        self.patience, self.tuning, self.low, self.high = patience, tuning, low, high
        self.renewed, self.descent, self.generation = range(rungs // 2, rungs), 0, 0
        file, order = problem.file, problem.numbering()
        self.weights = [[int(w) for w in row] for row in file.weights.T[order]]
        self.profits = [int(p) for p in file.profits[order]]
        self.capacities = [int(c) for c in np.minimum(file.capacities, file.weights.sum(axis=1))]
        tables = self.core.tables(1 + self.n // 32)
        self.rows, self.shifts = tables["rows"].tolist(), tables["shifts"].tolist()
        self.levels, self.gains = tables["levels"], tables["gains"].tolist()
        self.small = self.core.weights.tolist()
        self.calls = [[1] * population for _ in range(islands)]
        self.firsts, self.kinds = range(0, population, rungs), Counter[str]()
        self.units = [self.core.unit] * islands
        ladders = len(self.firsts)
        self.variant = [[k * ladders + i for i in range(ladders)] for k in range(islands)]
        self.replicas = []
        for island in range(islands):
            rows = []
            for slot in range(population):
                place = self.place(island, slot)
                mine = given[island::islands]
                state = self.drawn(place, START)
                if slot < len(mine):
                    state = problem.layout.to_device(np.array(mine[slot])).tolist()
                best, cost = self.repaired(state, place)
                energy = math.floor(self.core.scale * cost)
                rows.append(Replica(state, energy, best, cost, slot % rungs))
            self.replicas.append(rows)
        self.begin_ladders()

    def drawn(self, place: Place, stream: int) -> list[int]:
        state = [int(each) for each in self.core.rounded]
        for k, item in enumerate(self.core.items.tolist()):
            if words(1, stream, *place, k)[0] % 8 == 0:
                state[item] = 1 - state[item]
        return state

    def repaired(self, state: list[int], place: Place) -> tuple[list[int], int]:
        own = self.problem.layout.from_device(np.array(state))
        found, cost = evaluated(self.problem, own, place[0], place[1:])
        return self.problem.layout.to_device(found).tolist(), cost

    def begin(
        self, replica: Replica, mine: list[int], mate: int,
        before: list[tuple[list[int], int]], place: Place,
    ) -> None:  # fmt: skip
        if mate == NEWCOMER:
            state = self.drawn(place, MUTANT)
            self.kinds["newcomer"] += 1
        else:
            state = [int(each) for each in self.child(mine, before[mate][0], place)]
            self.kinds["renewed"] += 1
        replica.order = state
        replica.best, replica.cost = self.repaired(state, place)

    def renew(self, island: int, number: int, first: int, mine: int) -> None:
        self.variant[island][number] += 1
        super().renew(island, number, first, mine)

    def left(self, state: list[int]) -> list[int]:
        loads = np.array(self.weights, object).T @ np.array(state, object)
        found = []
        for row, shift in zip(self.rows, self.shifts, strict=True):
            slack = self.capacities[row] - int(loads[row]) if row >= 0 else 0
            found.append(max(-MOST_LEFT, min(MOST_LEFT, slack >> shift)))
        return found

    def feasible(self, state: list[int]) -> bool:
        loads = np.array(self.weights, object).T @ np.array(state, object)
        return all(load <= most for load, most in zip(loads, self.capacities, strict=True))

    def run(self, replica: Replica, temperature: float, place: Place) -> int:
        """Advance a chain by a generation; return the number of proposals."""
        island, slot = place[1], place[3]
        variant = self.variant[island][slot // self.rungs] % len(self.core.variants)
        prices = self.core.prices[variant].tolist()
        slop = int(self.core.slops[variant])
        state, profit = list(replica.order), sum(np.array(self.profits) * replica.order)
        profit = int(profit)
        core = self.core.items[: self.core.sizes[variant]].tolist()
        lists = Lists(
            [NOTHING, *(k for k in core if state[k])],
            [NOTHING, *(k for k in core if not state[k])][: self.core.places],
        )
        left = self.left(state)
        penalty = self.penalty(prices, left)
        replica.energy = math.floor(self.core.scale * -profit) + penalty
        t, proposed, climbs, end = np.float32(temperature), 0, 0, self.proposals
        i, number = int(words(1, BEGIN, *place)[0]) * len(lists.chosen) >> 32, 0
        while proposed < end:
            i = 0 if i >= len(lists.chosen) else i
            word = proposal_words(place, number // 4)[number % 4]
            lost = lists.chosen[i]
            proposed += len(lists.free)
            found = self.first_accepted(
                state, lists, i, left, prices, slop, penalty, profit, replica.cost, word, t
            )
            if found is not None:
                gained = lists.free[found]
                rise = self.of(self.gains, lost) - self.of(self.gains, gained) - penalty
                profit += self.of(self.profits, gained) - self.of(self.profits, lost)
                self.move(state, lists, i, found)
                left = self.left(state)
                penalty = self.penalty(prices, left)
                end -= TOLL if self.tuning else 0
                climbs += rise + penalty > 0
                replica.energy += rise + penalty
                self.kinds["accepted"] += 1
                self.kinds["infeasible"] += penalty > 0
                if penalty <= slop and -profit < replica.cost and self.feasible(state):
                    replica.best, replica.cost = list(state), -profit
                    self.kinds["best"] += 1
            number, i = number + 1, i + 1
        replica.order = state
        self.climbs[island][slot], self.tried[island][slot] = climbs, proposed
        return proposed

    @staticmethod
    def of(numbers: list[int], item: int) -> int:
        return 0 if item == NOTHING else numbers[item]

    @staticmethod
    def penalty(prices: list[int], left: list[int]) -> int:
        return sum(price * max(0, -each) for price, each in zip(prices, left, strict=True))

    def first_accepted(
        self, state: list[int], lists: Lists, i: int, left: list[int], prices: list[int],
        slop: int, penalty: int, profit: int, best: int, word: int, temperature: np.float32,
    ) -> int | None:  # fmt: skip
        lost, zero = lists.chosen[i], [0] * len(prices)
        without = np.array(left) + (self.small[lost] if lost != NOTHING else zero)
        rise = self.of(self.gains, lost) - penalty
        wanted = -best - profit + self.of(self.profits, lost)
        for place, gained in enumerate(lists.free):
            if i == 0 and place == 0:
                continue
            if place == 0 and len(lists.free) >= self.core.places:
                self.kinds["full"] += 1
                continue
            after = without - (self.small[gained] if gained != NOTHING else zero)
            price = self.penalty(prices, after.tolist())
            own = (word + place // TOGETHER * 0x9E3779B9) % 2**32 >> 22
            level = self.levels[own + place % TOGETHER]
            if rise + price - self.of(self.gains, gained) <= int(level * temperature):
                return place
            if price > slop or self.of(self.profits, gained) <= wanted:
                continue
            changed, other = list(state), Lists(list(lists.chosen), list(lists.free))
            self.move(changed, other, i, place)
            if self.feasible(changed):
                self.kinds["always taken"] += 1
                return place
        return None

    @staticmethod
    def move(state: list[int], lists: Lists, i: int, place: int) -> None:
        lost, gained = lists.chosen[i], lists.free[place]
        if lost == NOTHING:
            lists.chosen.append(gained)
            last = lists.free.pop()
            if place < len(lists.free):
                lists.free[place] = last
        elif gained == NOTHING:
            last = lists.chosen.pop()
            if i < len(lists.chosen):
                lists.chosen[i] = last
            lists.free.append(lost)
        else:
            lists.chosen[i], lists.free[place] = gained, lost
        for item in (lost, gained):
            if item != NOTHING:
                state[item] = 1 - state[item]
