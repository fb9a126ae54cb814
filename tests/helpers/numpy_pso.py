"""The particle swarm in plain NumPy, and on a device: the bits must be the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
from colonies_for_tests import begun
from numpy.typing import NDArray
from numpy_box import highest
from numpy_improvers import NumpyLocalSearch, keys_of
from numpy_islands import (
    MUTANT,
    SIGMOID,
    START,
    VELOCITY,
    NumpyIslands,
    Place,
    fraction,
    uniform,
    words,
)
from numpy_mkp import evaluated
from numpy_operators import random_genome
from problems_for_tests import NUMBERS

from islands.algorithms.pso import PsoSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.encodings import Encoding
from islands.problems.base import Problem
from islands.problems.mkp import Mkp

FASTEST = 1e30
Floats = NDArray[np.float32]
Evaluate = Callable[[NDArray[Any], Place], tuple[NDArray[Any], int, int]]
"""Returns the position after evaluation, which may change it, its cost, and the evaluations."""


def exponential(x: Floats) -> Floats:
    """Return e to the power of x as the kernels compute it, for x from -87 to 87."""
    f = np.float32
    power = np.rint(x * f(1.44269504))
    rest = x - power * f(0.693115234375) - power * f(3.19461849e-5)
    total = np.full_like(x, f(1) / f(720))
    for term in (f(1) / f(120), f(1) / f(24), f(1) / f(6), f(0.5), f(1), f(1)):
        total = total * rest + term
    return np.ldexp(total, power.astype(np.int32))


def sigmoid(x: Floats) -> Floats:
    return np.float32(1) / (np.float32(1) + exponential(-np.clip(x, np.float32(-87), 87)))


class NumpyPso(NumpyIslands):
    """An archipelago; genomes are keys, or 0 and 1 for each item."""

    def __init__(
        self, n: int, evaluate: Evaluate, settings: PsoSettings, *, encoding: str = "keys",
        population: int = 20, islands: int = 1, seed: int = 1, bounded: bool = False,
    ) -> None:  # fmt: skip
        self.n, self.evaluate, self.settings, self.encoding = n, evaluate, settings, encoding
        self.population, self.islands, self.seed = population, islands, seed
        self.bounded = bounded
        self.reset = settings.reset
        self.generation = 0
        self.calls, self.began = [0] * islands, [0] * islands
        shape = (islands, population, n)
        kind = {"bits": np.int64, "keys": np.float32, "vector": np.float64}[encoding]
        self.real = np.float64 if encoding == "vector" else np.float32
        self.here, self.genomes = np.zeros(shape, kind), np.zeros(shape, kind)
        self.velocity = np.zeros(shape, self.real)
        self.cost_here = np.zeros(shape[:2], np.int64)
        self.cost = np.zeros(shape[:2], np.int64)
        for island in range(islands):
            self.begin(island, START)
        self.begin_records()

    def begin(self, island: int, stream: int) -> None:
        self.velocity[island] = 0
        self.began[island] = self.generation
        for slot in range(self.population):
            self.move(island, slot, self.drawn(stream, island, slot), None)

    def drawn(self, stream: int, island: int, slot: int) -> NDArray[Any]:
        place = self.place(island, slot)
        if self.encoding == "bits":
            return np.array(random_genome(self.n, "bits", stream, place), np.int64)
        if self.bounded:
            return fraction(words(self.n, stream, *place), self.encoding)
        low, high = np.float32(self.settings.low), np.float32(self.settings.high)
        return low + (high - low) * uniform(words(self.n, stream, *place))

    def move(self, island: int, slot: int, genome: NDArray[Any], best: int | None) -> None:
        """Move a particle; keep the position if it costs less than `best`."""
        place = self.place(island, slot)
        genome, cost, calls = self.evaluate(genome, place)
        self.calls[island] += calls
        self.here[island, slot], self.cost_here[island, slot] = genome, cost
        if best is None or cost < best:
            self.genomes[island, slot], self.cost[island, slot] = genome, cost

    def evolve_island(self, island: int) -> None:
        if self.restart[island]:
            self.begin(island, MUTANT)
            self.restarts += 1
        else:
            self.fly(island)

    def fly(self, island: int) -> None:
        before, costs = self.genomes[island].copy(), self.cost[island].copy()
        inertia = self.inertia(self.generation - 1 - self.began[island])
        chi = np.float64(1)
        if self.settings.constriction:
            phi = self.settings.c1 + self.settings.c2
            chi = 2 / abs(2 - phi - np.sqrt(phi * phi - 4 * phi))
            inertia = np.float32(chi)
        c1, c2 = np.float32(chi * self.settings.c1), np.float32(chi * self.settings.c2)
        limit = np.float32(self.settings.velocity or (0.5 if self.bounded else FASTEST))
        for slot in range(self.population):
            place = self.place(island, slot)
            pulls = words(self.n, VELOCITY, *place).astype(np.uint32)
            one = (pulls >> 16).astype(np.float32) / np.float32(65536)
            other = (pulls & 0xFFFF).astype(np.float32) / np.float32(65536)
            here = self.here[island, slot].astype(self.real)
            best, lead = (
                before[k].astype(self.real) for k in (slot, self.leader(costs.tolist(), slot))
            )
            velocity = inertia * self.velocity[island, slot] + c1 * one * (best - here)
            velocity = np.clip(velocity + c2 * other * (lead - here), -limit, limit)
            if self.bounded:
                there = np.clip(here + velocity, 0, self.real(highest(self.encoding)))
                velocity[there != here + velocity] = 0
            self.velocity[island, slot] = velocity
            if self.encoding == "bits":
                draws = uniform(words(self.n, SIGMOID, *place))
                there = (draws < sigmoid(velocity)).astype(np.int64)
            elif not self.bounded:
                there = np.clip(here + velocity, -np.float32(FASTEST), np.float32(FASTEST))
            self.move(island, slot, there, int(costs[slot]))

    def inertia(self, generations: int) -> np.float32:
        usual = 1 if self.encoding == "bits" else 0.7298
        first = np.float32(self.settings.inertia or usual)
        final = np.float32(self.settings.inertia_end)
        if self.settings.schedule == "constant":
            return first
        gone = min(np.float32(generations) / np.float32(self.settings.horizon), np.float32(1))
        left = np.float32(1) - gone
        fallen = {
            "linear": gone,
            "early": np.float32(1) - (left * left) * (left * left),
            "late": (gone * gone) * (gone * gone),
        }[self.settings.schedule]
        return np.float32(first + fallen * (final - first))

    def leader(self, costs: list[int], slot: int) -> int:
        seen = list(range(self.population))
        if self.settings.neighbourhood == "ring":
            half = self.settings.neighbours // 2
            seen = [(slot + k) % self.population for k in range(-half, half + 1)]
        return min((costs[k], k) for k in seen)[1]

    def exchange_in_ring(self, migrants: int) -> None:
        """Replace the worst of each island by the best of the previous one."""
        self.exchange_rows_in_ring(migrants, [self.genomes, self.cost])


BITS, QAP = "bits", "qap"


def evaluator_of(
    problem: Problem, encoding: str, search: NumpyLocalSearch | None, encoder: Encoding
) -> Evaluate:
    """Return how genomes of an encoding are decoded, evaluated and improved."""

    def evaluate(genome: NDArray[Any], place: Place) -> tuple[NDArray[Any], int, int]:
        if isinstance(problem, Mkp):
            return *in_knapsack(problem, genome, place), 1
        if problem.solution_kind in NUMBERS:
            solution = encoder.decode(genome[np.newaxis])[0]
        elif encoding == "bits":
            solution = genome
        elif problem.solution_kind == "subset":
            solution = (genome >= np.float32(0.5)).astype(np.int64)
        else:
            solution = np.argsort(genome, kind="stable")
            solution = np.argsort(solution) if problem.layout.assigns else solution
        cost = int(problem.costs(solution[np.newaxis])[0])
        if search is None or place[2] == 0 or not search.is_due(place):
            return genome, cost, 1
        order, better, tried = search.improve(solution.tolist(), cost, place)
        if better == cost:
            return genome, cost, 1 + tried
        return keys_of(genome, order, assigns=problem.layout.assigns), better, 1 + tried

    return evaluate


def in_knapsack(problem: Mkp, genome: NDArray[Any], place: Place) -> tuple[NDArray[Any], int]:
    """Return the subset after evaluation and its cost, with the item numbers of the device."""
    numbers = problem.numbering()
    packed = genome.dtype == np.int64
    before = genome if packed else (genome >= np.float32(0.5)).astype(np.int64)
    choice = np.empty_like(before)
    choice[numbers] = before
    changed, cost = evaluated(problem, choice, place[0], place[1:])
    after = changed[numbers]
    if packed:
        return after, cost
    mirrored = np.float32(1) - genome
    keys = np.where((mirrored >= np.float32(0.5)) == after, mirrored, np.float32(0.25))
    return np.where(before == after, genome, keys), cost


def both_on(
    backend: Backend,
    problem: Problem,
    encoding: str,
    *,
    topology: str = "none",
    search: dict[str, Any] | None = None,
    warm_start: Any = tuple,
    **changes: Any,
) -> tuple[Archipelago, NumpyPso]:
    mine, settings, rest = begun(
        "pso", encoding, changes, sizes={"population": 12, "islands": 3, "seed": 5},
        problem=problem, backend=backend, search=search, warm_start=warm_start,
        migration={"topology": topology, "migrants": 2},
    )  # fmt: skip
    local = NumpyLocalSearch(problem, **search) if search else None
    evaluate = evaluator_of(problem, encoding, local, mine._encodings[0])
    bounded = mine._encodings[0].bounded
    own = {"encoding": encoding, "bounded": bounded, **rest}
    return mine, NumpyPso(problem.size, evaluate, settings, **own)


def unpacked(mine: Archipelago, rows: NDArray[Any], n: int) -> NDArray[Any]:
    """Return rows of genes in the format of the reference."""
    if rows.dtype != np.uint32:
        return rows[:, :, :n]
    return np.stack([mine._encodings[0].decode(island) for island in rows])


def assert_same(mine: Archipelago, reference: NumpyPso) -> None:
    saved = mine.snapshot()
    assert saved["cost"].tolist() == reference.cost.tolist()
    assert saved["offered_cost"].tolist() == reference.cost_here.tolist()
    assert (unpacked(mine, saved["genes"], reference.n) == reference.genomes).all()
    assert (unpacked(mine, saved["offered"], reference.n) == reference.here).all()
    assert (saved["velocity"][:, :, : reference.n] == reference.velocity).all()
    assert [measure.evaluations for measure in mine.measure()] == reference.calls
