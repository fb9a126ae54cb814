"""Tempering of a user's own problem in plain Python: one move after another."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy_exact import pow
from numpy_islands import START, Place
from numpy_operators import crossed, random_genome
from numpy_tempering import NumpyTempering, Replica, is_accepted, proposal_words

COLD, HOT, TOLL, SAMPLES, TRIES = 0.002, 0.05, 4, 32, 16
SWAP, REVERSAL, INSERTION, ROTATION, FLIP, EXCHANGE = range(6)
ENCODINGS = {"order": "permutation", "subset": "bits", "keys": "keys", "vector": "vector"}


class Word:
    """Numbers below bounds, all from one random word."""

    def __init__(self, word: int) -> None:
        self.word = int(word)

    def below(self, bound: int) -> int:
        found, self.word = divmod(self.word * bound, 2**32)
        return found


class NumpyChains(NumpyTempering):
    """Ladders of replicas, or replicas that cool down together again and again."""

    end_shares = COLD, HOT
    """The accepted climbs per proposal at the ends of a ladder."""

    def __init__(
        self, cost: Callable[[Any], float], kind: str, n: int, *, islands: int, population: int,
        seed: int, rungs: int, proposals: int, patience: int, tuning: int, cycle: int, low: float,
        high: float, renewed: range, moves: tuple[int, ...] = (0, 1, 2, 3),
    ) -> None:  # fmt: skip
        self.cost_of, self.kind, self.n, self.encoding = cost, kind, n, ENCODINGS[kind]
        self.moves, self.proposals, self.cycle = moves, proposals, cycle
        self.population, self.seed, self.rungs, self.reset = population, seed, rungs, 0
        self.patience, self.tuning, self.low, self.high = patience, tuning, low, high
        self.renewed, self.descent, self.generation = renewed, 0, 0
        self.calls = [[1 + SAMPLES] * population for _ in range(islands)]
        self.replicas, self.units, self.kinds = [], [], Counter[str]()
        self.firsts = range(0, population, rungs)
        for island in range(islands):
            rows, rough = [], []
            for slot in range(population):
                place = self.place(island, slot)
                state = list(random_genome(n, self.encoding, START, place))
                energy = self.evaluate(state)
                rough.append(self.roughness(state, energy, place))
                rows.append(Replica(state, energy, state, energy, slot % rungs))
            self.replicas.append(rows)
            total = 0.0
            for each in rough:
                total += each
            self.units.append(total / population if total > 0 else 1.0)
        self.begin_ladders()

    def begin_ladders(self) -> None:
        every = range(len(self.replicas))
        self.climbs, self.tried = ([[0] * self.population for _ in every] for _ in range(2))
        self.temperature = [[self.beginning(island) for _ in self.firsts] for island in every]
        self.shares = [[[0.0] * self.tuning for _ in self.firsts] for _ in every]
        self.range = [[[0.0, 0.0] for _ in self.firsts] for _ in every]
        self.begin_records()

    def beginning(self, island: int) -> list[float]:
        self.unit = self.units[island]
        if self.tuning:
            return [self.cooled(1)] * self.rungs
        return self.series(self.low * self.unit, self.high * self.unit)

    def evaluate(self, order: list[Any]) -> Any:
        return self.cost_of(order)

    def roughness(self, state: list[Any], energy: Any, place: Place) -> float:
        parts = [0.0] * 64
        for i in range(SAMPLES):
            other = self.after(state, proposal_words(place, i))
            parts[i] = abs(float(self.evaluate(other)) - energy)
        half = 32
        while half:  # in the order of the kernels
            parts = [parts[k] + parts[k + half] for k in range(half)]
            half //= 2
        return parts[0] / SAMPLES

    def after(self, state: list[Any], drawn: list[int]) -> list[Any]:
        """Return the solution after the move that random words propose."""
        if self.kind == "order":
            return self.ordered(state, drawn)
        changed, word, n = list(state), Word(drawn[0]), self.n
        one = drawn[1] * n >> 32
        if self.kind == "subset":
            both = {FLIP, EXCHANGE} <= set(self.moves)
            if word.below(2) if both else EXCHANGE in self.moves:
                other = drawn[2]
                for _ in range(TRIES):
                    item = other * n >> 32
                    if state[item] != state[one]:
                        changed[item] = 1 - state[item]
                        break
                    other = (other * 0x915F77F5 + 0x9E3779B9) % 2**32
            changed[one] = 1 - state[one]
            return changed
        gene = np.float64 if self.kind == "vector" else np.float32
        fraction = gene(drawn[2] / 2**32 if gene is np.float64 else (drawn[2] >> 8) / 2**24)
        if word.below(4) == 0:
            changed[one] = float(fraction)
            return changed
        step = fraction * gene(1 / 2 ** word.below(24))
        moved = gene(state[one]) + step if word.below(2) else gene(state[one]) - step
        most = gene(1) if gene is np.float64 else np.nextafter(gene(1), gene(0))
        changed[one] = float(max(min(moved, most), gene(0)))
        return changed

    def ordered(self, order: list[int], drawn: list[int]) -> list[int]:
        n, word = self.n, Word(drawn[0])
        kind = word.below(4)
        while kind not in self.moves:
            kind = (kind + 1) % 4
        u = drawn[1] * n >> 32
        if word.below(2):
            far = Word(drawn[2])
            distance = 1 + far.below(2 ** far.below((n - 1).bit_length()))
            sides = [u + distance, u - distance]
            first, second = sides if word.below(2) else sides[::-1]
            ends = (0 if u > 0 else n - 1,)
            v = next(each for each in (first, second, *ends) if 0 <= each < n)
        else:
            v = drawn[2] * (n - 1) >> 32
            v += v >= u
        low, high = sorted((u, v))
        part = order[low : high + 1]
        self.kinds[f"move {kind}"] += 1
        if kind == SWAP:
            part[0], part[-1] = part[-1], part[0]
        elif kind == REVERSAL:
            part = part[::-1]
        elif kind == INSERTION:
            forth = u < v or ROTATION not in self.moves
            part = part[1:] + part[:1] if forth else part[-1:] + part[:-1]
        else:
            few = 1 + word.below(min(high - low, 4))
            by = few if word.below(2) else high - low + 1 - few
            part = part[by:] + part[:by]
        return order[:low] + part + order[high + 1 :]

    def child(self, mine: list[Any], other: list[Any], place: Place) -> list[Any]:
        word = np.zeros(4, np.uint64)
        name = "uniform_like" if self.kind == "order" else "uniform"
        return list(crossed(name, self.encoding, word, place, mine, other)[0])

    def run(self, replica: Replica, temperature: float, place: Place) -> int:
        """Advance a chain by a generation; return the number of evaluated proposals."""
        end, number, climbs = self.proposals, 0, 0
        while number < end:
            drawn = proposal_words(place, number)
            number += 1
            state = self.after(replica.order, drawn)
            energy = self.evaluate(state)
            raised = float(energy) - float(replica.energy)
            if raised > 0 and not is_accepted(raised, temperature, drawn[3]):
                continue
            self.kinds["accepted"] += 1
            climbs += raised > 0
            end -= TOLL if self.tuning else 0
            replica.order, replica.energy = state, energy
            if energy < replica.cost:
                replica.best, replica.cost = state, energy
        island, slot = place[1], place[3]
        self.climbs[island][slot] = climbs
        self.tried[island][slot] = min(number, max(end, 1))
        return number

    def end(self, island: int, number: int, first: int) -> None:
        """Complete a generation of a ladder."""
        rows, made = self.replicas[island][first : first + self.rungs], self.generation
        slots, self.unit = range(first, first + self.rungs), self.units[island]
        if made <= self.tuning:
            climbs = sum(self.climbs[island][slot] for slot in slots)
            tried = sum(self.tried[island][slot] for slot in slots)
            self.shares[island][number][made - 1] = climbs / max(tried, 1)
            following = min(made + 1, self.tuning)
            self.temperature[island][number] = [self.cooled(following)] * self.rungs
        elif self.tuning and made == self.tuning + 1:
            low, high = (self.tuned(island, share) for share in self.end_shares)
            self.range[island][number] = [low, max(high, 1.01 * low)]
            self.temperature[island][number] = self.series(*self.range[island][number])
            self.anneal(island, number)
        elif self.cycle:
            self.anneal(island, number)
        else:
            self.exchange(island, number, first)
        mine = min(range(self.rungs), key=lambda i: rows[i].cost)
        for row in rows:
            row.mate = -1
        record = self.record[island][number]
        if rows[mine].cost < record[0]:
            record[:] = rows[mine].cost, made
        elif 0 < self.patience <= made - record[1] and made > self.tuning:
            record[1] = made
            self.renew(island, number, first, mine)

    def anneal(self, island: int, number: int) -> None:
        if not self.cycle:
            return
        at, length = self.generation - self.tuning - 1, self.cycle
        while at >= length:
            at, length = at - length, 2 * length
            self.kinds["heated"] += at == 0
        cold, hot = self.range[island][number]
        now = hot * pow(cold / hot, at / max(length - 1, 1))
        self.temperature[island][number] = [now] * self.rungs

    def tuned(self, island: int, share: float) -> float:
        ladders = self.shares[island]
        means = [sum(each) / len(ladders) for each in zip(*ladders, strict=True)]
        return self.coldest_with(share, lambda made: means[made - 1])
