"""Parallel tempering in plain Python, one proposal after another, and on a device."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from colonies_for_tests import one_colony
from numpy.typing import NDArray
from numpy_exact import exp, pow
from numpy_improvers import unequal_pairs
from numpy_islands import CROSS, MUTANT, START, NumpyIslands, Place, evolve_together, words
from numpy_operators import crossed, random_genome
from problems_for_tests import facilities, with_equals

from islands.algorithms.base import Shape
from islands.algorithms.tempering import Tempering, TemperingSettings
from islands.algorithms.tempering.algorithm import chains_of
from islands.algorithms.tempering.sparse import SparseChains
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.instances.qaplib import QapFile
from islands.migration import MigrationSettings, Ranks
from islands.migration.transport import find
from islands.parallel import Deal, World
from islands.problems.base import Problem
from islands.problems.qap import Qap
from islands.problems.qap_exchanges import mean_change

PROPOSALS, BEGIN, RUNGS, RENEWAL = range(32, 36)
NO_MATE, NEWCOMER = -1, -2
_QUADS = 64
AHEAD = 16
"""The number of pairs whose changes are computed together: the next accepted one ends their use."""


def exchanged(order: list[int], pair: tuple[int, int]) -> list[int]:
    i, j = pair
    changed = list(order)
    changed[i], changed[j] = order[j], order[i]
    return changed


@dataclass
class Replica:
    """A Markov chain: its state, and the best order that it has found."""

    order: list[int]
    energy: int
    best: list[int]
    cost: int
    rung: int
    mate: int = NO_MATE
    proposed: int = 0


class NumpyTempering(NumpyIslands):
    """Ladders of replicas; the settings are those of `TemperingSettings`."""

    def __init__(
        self, problem: Qap, *, islands: int, population: int, seed: int, rungs: int, sweeps: int,
        patience: int, descent: int, tuning: int, low: float, high: float, unit: float,
        renewed: range, reset: int = 0, given: tuple[list[int], ...] = (),
    ) -> None:  # fmt: skip
        self.problem, self.population, self.seed, self.reset = problem, population, seed, reset
        self.rungs, self.sweeps, self.patience, self.tuning = rungs, sweeps, patience, tuning
        self.low, self.high, self.unit, self.renewed = low, high, unit, renewed
        self.descent = descent
        self.generation, self.calls = 0, [[1] * population for _ in range(islands)]
        self.pairs, self.tuning_sweeps = unequal_pairs(problem), min(sweeps, 96)
        self.rows = sorted({i for i, _ in self.pairs})
        choice = problem.swaps.choice
        self.chosen = 0 if choice is None else choice.chosen
        """Number of chosen places, which the first items have; 0: another problem."""
        self.scale = choice.scale if choice else 1
        share = self.chosen / problem.size
        self.excess, effort = (0.2, 0.75), 0.35
        if problem.swaps.is_unstructured:
            self.excess, effort = (0.405, 0.485), 0.6
        if chains_of(problem) is SparseChains:
            effort = 1 / problem.size
        if choice:
            self.excess, effort = (0.04 * share, 0.1 * share), 2 / self.chosen
        self.symmetries = choice.symmetries().T.tolist() if choice else []
        assert self.rows == list(range(len(self.rows)))
        self.toll = int(effort * len(self.rows) + 0.5) if tuning else 0
        """Number of rows as which an accepted exchange counts."""
        self.unequal_places = set(unequal_pairs(problem, of_places=True))
        self.kinds: Counter[str] = Counter()
        """How often each kind of step was taken; tests require each kind."""
        self.replicas: list[list[Replica]] = []
        for island in range(islands):
            rows = []
            for slot in self.slots:
                mine = given[island::islands]
                order = random_genome(problem.size, "permutation", START, self.place(island, slot))
                if slot < len(mine):
                    order = problem.layout.to_device(np.array(mine[slot])).tolist()
                order = list(order)
                cost = self.evaluate(order)
                rows.append(Replica(order, cost, order, cost, slot % rungs))
            self.replicas.append(rows)
        self.firsts = range(0, population, rungs)
        first = self.cooled(1) if tuning else None
        ladder = [first] * rungs if first is not None else self.series(low * unit, high * unit)
        self.temperature = [[list(ladder) for _ in self.firsts] for _ in range(islands)]
        self.heat = [[[0.0] * tuning for _ in self.firsts] for _ in range(islands)]
        self.begin_records()

    def begin_records(self) -> None:
        super().begin_records()
        self.record = [
            [[min(r.cost for r in rows[k : k + self.rungs]), 0] for k in self.firsts]
            for rows in self.replicas
        ]

    @property
    def cost(self) -> list[list[int]]:
        return [[replica.cost for replica in rows] for rows in self.replicas]

    def evaluate(self, order: list[int]) -> int:
        return int(self.problem.costs(self.problem.layout.from_device(np.array([order])))[0])

    def series(self, low: float, high: float) -> list[float]:
        return [low * pow(high / low, rung / (self.rungs - 1)) for rung in range(self.rungs)]

    def cooled(self, made: int) -> float:
        part = (made - 1) / max(1, self.tuning - 1)
        return self.high * self.unit * pow(self.low / self.high, part)

    def evolve_island(self, island: int) -> None:
        rows = self.replicas[island]
        before = [(replica.best, replica.cost) for replica in rows]
        for slot, replica in enumerate(rows):
            place = self.place(island, slot)
            first = slot // self.rungs * self.rungs
            replica.proposed = 0
            mate = NEWCOMER if self.restart[island] else replica.mate
            if mate != NO_MATE:
                mine = min(range(first, first + self.rungs), key=lambda i: before[i][1])
                mine = slot if self.descent else mine
                self.begin(replica, before[mine][0], mate, before, place)
                replica.proposed = 1
            temperature = self.temperature[island][slot // self.rungs][replica.rung]
            replica.proposed += self.run(replica, temperature, place)
            self.calls[island][slot] += replica.proposed
        for number, first in enumerate(self.firsts):
            self.end(island, number, first)

    def begin(
        self, replica: Replica, mine: list[int], mate: int,
        before: list[tuple[list[int], int]], place: Place,
    ) -> None:  # fmt: skip
        """Replace the order of a replica by a child or a random one."""
        if mate == NEWCOMER:
            order = list(random_genome(len(mine), "permutation", MUTANT, place))
            self.kinds["newcomer"] += 1
        else:
            order = self.child(mine, before[mate][0], place)
            self.kinds["renewed"] += 1
        replica.order, replica.energy = order, self.evaluate(order)
        if mate != NEWCOMER and self.descent and replica.cost <= replica.energy:
            self.kinds["worse"] += 1
            return
        replica.best, replica.cost = order, replica.energy

    def child(self, mine: list[int], other: list[int], place: Place) -> list[int]:
        if not self.chosen:
            word = np.zeros(4, np.uint64)
            return list(crossed("uniform_like", "permutation", word, place, mine, other)[0])
        own = set(mine[: self.chosen])
        moved = [{symmetry[p] for p in other[: self.chosen]} for symmetry in self.symmetries]
        nearest = max(moved, key=lambda places: len(own & places))
        self.kinds["moved"] += nearest != moved[0]
        lots = words(len(mine), CROSS, *place)
        numbers = [
            (0 if p in own & nearest else 1 + (int(lots[p]) >> 1) if p in own | nearest else 2**32)
            for p in range(len(mine))
        ]
        return sorted(range(len(mine)), key=lambda p: (numbers[p], p))

    def run(self, replica: Replica, temperature: float, place: Place) -> int:
        """Advance a chain by a generation; return the number of proposals."""
        n, pairs = self.problem.size, self.pairs
        if not pairs:
            return 0
        firsts = [next(k for k, (i, _) in enumerate(pairs) if i == row) for row in self.rows]
        row = int(words(1, BEGIN, *place)[0]) * len(firsts) >> 32
        begin = firsts[row]
        limits: dict[int, list[float]] = {}  # of changes that are accepted, by sweep
        known, raised = begin, list[int]()  # the changes of the pairs from that one on
        first = self.chosen  # the item with the first word of each row
        quads, rows_drawn = -(-(n - first) // 4), self.chosen or n
        sweeps = self.tuning_sweeps if self.generation <= self.tuning else self.sweeps
        last = row + sweeps * len(firsts)  # the first row that is not proposed
        number, end = begin - 1, self.number_of(last, firsts)
        while (number := number + 1) < end:
            sweep, at = divmod(number, len(pairs))
            if sweep not in limits:
                count = rows_drawn * quads
                drawn = words(4 * count, PROPOSALS, *place, sweep * count, rounds=7)
                limits[sweep] = most_raised(temperature / self.scale, drawn).tolist()
            if not known <= at < known + len(raised):
                known, raised = at, self.changes(replica, pairs[at : at + AHEAD])
            i, j = pairs[at]
            limit = limits[sweep][4 * (i * quads + (j - first) // 4) + (j - first) % 4]
            if np.float32(raised[at - known] // self.scale) > limit:
                continue
            places = sorted((replica.order[i], replica.order[j]))
            if tuple(places) not in self.unequal_places:
                self.kinds["alike"] += 1
                continue
            last = max(sweep * len(firsts) + i + 1, last - self.toll)
            end = self.number_of(last, firsts)
            self.kinds["accepted"] += 1
            replica.order = exchanged(replica.order, (i, j))
            replica.energy += raised[at - known]
            if replica.energy < replica.cost:
                replica.best, replica.cost = replica.order, replica.energy
            raised = []
        return number - begin

    def number_of(self, row: int, firsts: list[int]) -> int:
        """Return the number of the first pair of a row, from that of the first sweep on."""
        return row // len(firsts) * len(self.pairs) + firsts[row % len(firsts)]

    def changes(self, replica: Replica, pairs: list[tuple[int, int]]) -> list[int]:
        """Return how much the exchange of each of these pairs raises the cost."""
        others = np.array([exchanged(replica.order, pair) for pair in pairs])
        costs = self.problem.costs(self.problem.layout.from_device(others))
        return [int(cost) - replica.energy for cost in costs]

    def end(self, island: int, number: int, first: int) -> None:
        """Complete a generation of a ladder."""
        rows, made = self.replicas[island][first : first + self.rungs], self.generation
        if made <= self.tuning:
            self.heat[island][number][made - 1] = float(sum(row.energy for row in rows))
            following = min(made + 1, self.tuning)
            self.temperature[island][number] = [self.cooled(following)] * self.rungs
        elif made == self.tuning + 1 and self.tuning > 0:
            low, high = (self.tuned(island, excess) for excess in self.excess)
            temperatures = self.series(low, max(high, 1.01 * low))
            self.temperature[island][number] = temperatures
        elif not self.descent:
            self.exchange(island, number, first)
        mine = min(range(self.rungs), key=lambda i: rows[i].cost)
        for row in rows:
            row.mate = NO_MATE
        if self.descent and made > self.tuning and made % self.descent == 0:
            self.descend(island, first)
        record = self.record[island][number]
        if self.restart[island] or rows[mine].cost < record[0]:
            record[:] = rows[mine].cost, made
        elif not self.descent and 0 < self.patience <= made - record[1] and made > self.tuning:
            record[1] = made
            self.renew(island, number, first, mine)

    def tuned(self, island: int, excess: float) -> float:
        means = [sum(each) / self.population for each in zip(*self.heat[island], strict=True)]

        def measured(made: int) -> float:
            return (means[made - 1] - means[-1]) / (self.cooled(made) * self.problem.size)

        return self.coldest_with(excess, measured)

    def coldest_with(self, number: float, measured: Callable[[int], float]) -> float:
        """Return the lowest temperature of the tuning phase at which a number was reached."""
        made = self.tuning
        here = colder = measured(made)
        while here < number and made > 1:
            made -= 1
            colder, here = here, measured(made)
        if not colder < number < here:
            return self.cooled(made)
        part, cold = (number - colder) / (here - colder), self.cooled(made + 1)
        return cold * pow(self.cooled(made) / cold, part)

    def exchange(self, island: int, number: int, first: int) -> None:
        rows = self.replicas[island][first : first + self.rungs]
        temperature = self.temperature[island][number]
        for rung in range(self.generation % 2, self.rungs - 1, 2):
            cold, hot = (next(r for r in rows if r.rung == k) for k in (rung, rung + 1))
            difference = 1.0 / temperature[rung] - 1.0 / temperature[rung + 1]
            exponent = difference * float(cold.energy - hot.energy)
            word = int(words(4 * rung + 1, RUNGS, *self.place(island, first))[4 * rung])
            if exponent < 0 and (word + 0.5) / 2**32 >= exp(exponent):
                self.kinds["kept"] += 1
                continue
            self.kinds["exchanged"] += 1
            cold.rung, hot.rung = rung + 1, rung

    def descend(self, island: int, first: int) -> None:
        for i in range(self.rungs):
            row = self.replicas[island][first + i]
            row.rung -= 1
            if row.rung >= 0:
                continue
            row.rung = self.rungs - 1
            word = int(words(4 * i + 1, RENEWAL, *self.place(island, first))[4 * i])
            other = word * (self.population - 1) >> 32
            row.mate = other + (other >= first + i)

    def renew(self, island: int, number: int, first: int, mine: int) -> None:
        ladders = len(self.firsts)
        for i in range(self.rungs):
            row = self.replicas[island][first + i]
            if i == mine or row.rung not in self.renewed:
                continue
            row.mate = NEWCOMER
            if ladders > 1:
                word = int(words(4 * i + 1, RENEWAL, *self.place(island, first))[4 * i])
                other = word * (ladders - 1) >> 32
                start = (other + (other >= number)) * self.rungs
                costs = self.cost[island][start : start + self.rungs]
                row.mate = start + costs.index(min(costs))


_LN2 = np.float32(float.fromhex("0x1.62e43p-1"))


def minus_log(x: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Return -ln(x / 2^24) with the bits of the kernels."""
    mantissa, exponent = np.frexp(x.astype(np.float32))
    m, one = np.float32(2 * mantissa), np.float32(1)
    s = (m - one) / (m + one)
    series = np.float32(2) / np.float32(11)
    for odd in (9, 7, 5, 3, 1):
        series = series * (s * s) + np.float32(2) / np.float32(odd)
    return (25 - exponent).astype(np.float32) * _LN2 - series * s


def proposal_words(place: Place, quad: int) -> list[int]:
    """Return four words of the stream of proposals; many are drawn together."""
    return _drawn(place, quad // _QUADS)[quad % _QUADS]


@lru_cache
def _drawn(place: Place, block: int) -> list[list[int]]:
    drawn = words(4 * _QUADS, PROPOSALS, *place, block * _QUADS, rounds=7)
    return [list(map(int, quad)) for quad in drawn.reshape(-1, 4)]


def most_raised(temperature: float, drawn: NDArray[np.uint64]) -> NDArray[np.float32]:
    """Return by how much an accepted exchange may raise the cost, for each word."""
    return np.float32(temperature) * minus_log((drawn >> np.uint64(8)) + np.uint64(1))


def is_accepted(raised: float, temperature: float, word: int) -> bool:
    return bool(np.float32(raised) <= most_raised(temperature, np.array(word, np.uint64)))


FIXED = {"coldest": 0.05, "hottest": 0.4}
RING = {"topology": "ring", "migrants": 2, "delay": 1}
PROBLEMS: dict[str, Callable[[int], Qap]] = {
    "symmetric": facilities,
    "diagonal": lambda n: facilities(n, symmetric="a", diagonal=True, largest=300),
    "general": lambda n: facilities(n, symmetric="neither", diagonal=True),
    "large": lambda n: facilities(n, symmetric="neither", diagonal=True, largest=10**7),
    "large-symmetric": lambda n: facilities(n, largest=10**7),
    "equals": lambda n: Qap(QapFile("equals", None, n, *with_equals(n))),
    "general-linear": lambda n: facilities(n, symmetric="neither", diagonal=True, linear=99),
}
_ARRAYS = (
    *("unit", "state", "energy", "held", "rung", "mate", "temperature", "heat", "records"),
    *("weights", "alone", "first", "neighbour", "flow", "distances"),
)


def torus(rows: int, columns: int, chosen: int) -> Qap:
    """Return the choice of places on a torus, far from each other, of which some cost more."""
    places = np.array([divmod(p, columns) for p in range(rows * columns)])
    gaps = abs(places[:, np.newaxis] - places)
    gaps = np.minimum(gaps, np.array([rows, columns]) - gaps).sum(axis=-1)
    block = np.zeros_like(gaps)
    block[:chosen, :chosen] = 1
    return Qap(QapFile("torus", None, len(gaps), block, 100 // np.maximum(gaps, 1)))


def ladders(
    backend: Backend, problem: Problem, settings: TemperingSettings, encoding: str, *,
    population: int = 4, islands: int = 2, seed: int = 5, given: Iterable[Any] = (),
    world: World | None = None, way: dict[str, Any] | None = None,
) -> Archipelago:  # fmt: skip
    """Return islands with tempering, on one of the ranks."""
    world = world or World()
    links = Ranks(world, Deal(islands, world.size), find(world, backend)[0])
    return one_colony(
        problem=problem, algorithm="tempering", encoding=encoding, settings=settings,
        population=population, islands=islands, seed=seed, backend=backend, ranks=links,
        migration=MigrationSettings.build(way or {"topology": "none"}),
        warm_start=lambda: [np.array(each, np.int64) for each in given],
    )  # fmt: skip


_OF_ISLANDS = ("population", "seed", "given", "world", "way")


def archipelago(backend: Backend, problem: Qap, *, number: int = 2, **settings: Any) -> Archipelago:
    own = {name: settings.pop(name) for name in _OF_ISLANDS if name in settings}
    built = TemperingSettings.build({"rungs": 4, **settings})
    return ladders(
        backend, problem, built, "permutation", islands=number, **{"population": 8, **own}
    )


def both(
    backend: Backend, problem: Qap, given: tuple[list[int], ...] = (), **settings: Any
) -> tuple[Archipelago, NumpyTempering]:
    """Return the same run on a device and in Python."""
    settings = {"sweeps": 6, "patience": 3, "population": 8, **settings}
    mine = archipelago(backend, problem, given=given, **settings)
    population = settings.pop("population")
    own = TemperingSettings.build({"rungs": 4, **settings})
    tempering = Tempering(own, population)
    tempering.prepare(problem, Shape(2, population, problem.size, np.dtype(np.int32)))
    arrays = dict.fromkeys(_ARRAYS, None) | {"symmetries": np.zeros((1, 1))}
    plan = tempering.plan(arrays).members
    unit = mean_change(problem.file.a, problem.file.b, problem.file.linear)
    reference = NumpyTempering(
        problem, islands=2, population=population, seed=5, rungs=own.rungs, sweeps=own.sweeps,
        patience=own.patience, descent=own.descent, tuning=int(plan["tuning"]),
        low=float(plan["low"]), high=float(plan["high"]), unit=unit, reset=own.reset, given=given,
        renewed=range(int(plan["renewed_from"]), int(plan["renewed_to"])),
    )  # fmt: skip
    mine.start()
    return mine, reference


def assert_same_numbers(
    saved: dict[str, NDArray[Any]], reference: NumpyTempering, *names: str
) -> list[Replica]:
    """Compare numbers of replicas and ladders; return the replicas of the reference."""
    rows = [replica for rows in reference.replicas for replica in rows]
    for name in names:
        assert saved[name].reshape(-1).tolist() == [getattr(row, name) for row in rows], name
    temperatures = [t for island in reference.temperature for ladder in island for t in ladder]
    assert saved["temperature"].reshape(-1).tolist() == temperatures
    assert saved["calls"].tolist() == reference.calls
    return rows


def assert_same(mine: Archipelago, reference: NumpyTempering) -> None:
    saved, n = mine.snapshot(), reference.problem.size
    rows = assert_same_numbers(saved, reference, "cost", "energy", "rung", "mate")
    assert saved["genes"][:, :, :n].reshape(-1, n).tolist() == [row.best for row in rows]
    assert saved["state"][:, :, :n].reshape(-1, n).tolist() == [row.order for row in rows]


def assert_evolves(mine: Archipelago, reference: NumpyTempering, generations: int) -> None:
    evolve_together(mine, reference, generations, assert_same)
