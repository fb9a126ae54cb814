"""Runs of the algorithms on all devices compared with their NumPy references, bit for bit."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy_brkga
import numpy_cellular
import numpy_de
import numpy_ga
import numpy_genomes
import numpy_memetic
import numpy_pso
import numpy_tempering
import pytest
from numpy_improvers import NumpyLocalSearch
from problems_for_tests import NUMBERS, cities, facilities, knapsack
from starts_for_tests import FAR, shift, shift_reference
from test_operators import Wanted

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.instances.qaplib import QapFile
from islands.problems.base import Problem
from islands.problems.mkp import WAYS, MkpSettings
from islands.problems.qap import Qap

# An algorithm, a problem and its size; an encoding; whether islands exchange migrants in a ring;
# settings; and, after +, what the reference has to do at least once. Sizes are those around words
# and warps.
RUNS = """
brkga tours 1 ring
brkga tours 2 ring
brkga tours 63 ring
brkga tours 200 ring
brkga vector 1 ring reset=3
brkga vector 61 ring reset=3
brkga keys 8 ring reset=3
brkga tours 7 reset=3 topology=none generations=30 +restarts
de tours 1 ring
de tours 3 ring
de general 2 ring
de general 26 ring
de vector 1 ring strategy=rand/1 adaptation=jde reset=5
de vector 31 ring strategy=best/1 adaptation=jde reset=5
de keys 6 ring strategy=current-to-best/1 adaptation=jde reset=5
de keys 31 ring strategy=current-to-pbest/1 adaptation=nearby reset=5
de facilities 13 ring strategy=rand/1 adaptation=none F=0.5 Cr=0.6 low=-1 high=7
de facilities 13 ring strategy=rand/1 adaptation=nearby F=0.5 Cr=0.6 low=-1 high=7
de facilities 13 ring strategy=best/1 adaptation=none F=0.5 Cr=0.6 low=-1 high=7
de facilities 13 ring strategy=current-to-best/1 adaptation=jde F=0.5 Cr=0.6 low=-1 high=7
de facilities 13 ring strategy=current-to-pbest/1 adaptation=none F=0.5 Cr=0.6 low=-1 high=7
de facilities 5 reset=3 generations=24 +restarts
de facilities 5 reset=3 adaptation=jde generations=24 +restarts
de facilities 5 reset=3 adaptation=nearby generations=24 +restarts
de tours 128 adaptation=jde generations=3
de tours 300 adaptation=jde generations=3
de tours 9 search.name=swap search.rate=0.4 search.steps=1
de general 9 search.name=two_opt search.rate=0.4 search.steps=1
de general 9 search.name=reinsert search.rate=0.4 search.steps=1
pso bits 1 ring
pso bits 33 ring
pso bits 31 keys ring
pso bits 70 keys ring
pso tours 2 ring
pso tours 70 ring
pso general 5 ring
pso general 33 ring
pso vector 31 ring reset=5
pso vector 6 ring reset=5 velocity=0.1
pso keys 31 ring reset=5 c1=100 c2=100 inertia=10
pso keys 1 ring reset=5
pso bits 37 ring schedule=linear c1=0.601321 c2=1.79865 inertia=1 horizon=7
pso general 37 ring schedule=early inertia=0.9 inertia_end=0.1 horizon=20
pso general 37 ring schedule=late inertia=1 inertia_end=0.3 horizon=12
pso bits 37 ring velocity=0.25
pso general 37 ring constriction=true c1=2.05 c2=2.05
pso bits 37 ring neighbourhood=ring neighbours=4
pso general 37 ring neighbourhood=ring neighbours=10 population=11
pso bits 37 ring inertia=0.001 c1=0
pso general 9 inertia=10 c1=100 c2=100 generations=40
pso general 40 low=-3 high=5 generations=1
pso drop 40 ring reset=4 population=10 generations=16 +restarts
pso repair 40 keys ring reset=4 population=10 generations=16 +restarts
pso linear 40 reset=4 population=10 generations=16 +restarts
pso linear 40 keys ring reset=4 population=10 generations=16 +restarts
pso dynamic 40 ring reset=4 population=10 generations=16 +restarts
pso bits 5 reset=3 generations=28 +restarts
pso general 5 reset=3 schedule=linear horizon=5 generations=28 +restarts
pso tours 9 search.name=swap search.steps=1 search.rate=0.4
pso general 9 search.name=swap search.steps=1 search.rate=0.4
ga bits 1 selection=best replacement=generational crossover=one_point
ga bits 33 selection=best replacement=generational crossover=one_point
ga bits 2 replacement=steady
ga bits 200 replacement=steady
ga vector 1 replacement=steady
ga vector 26 replacement=steady crossover=blend mutation=gaussian reset=2
ga keys 5 replacement=generational crossover=sbx mutation=polynomial
ga facilities 1 replacement=steady
ga facilities 5 replacement=generational
ga facilities 26 keys replacement=steady
ga facilities 2 keys replacement=generational
ga tours 26 replacement=generational
ga tours 26 keys replacement=steady
ga bits 40 replacement=steady selection=best population=3
ga bits 40 replacement=generational selection=best population=2
ga bits 40 replacement=steady selection=random
ga bits 40 replacement=generational selection=random population=3
ga bits 40 replacement=steady selection=proportional population=2
ga bits 40 replacement=generational selection=proportional population=13
ga bits 40 replacement=steady tournament=1
ga bits 40 replacement=generational tournament=1000 population=2
ga bits 50 replacement=generational elite=1 crossover_rate=0 mutation_rate=1 strength=1
ga bits 50 replacement=generational elite=4 crossover_rate=0.5 mutation_rate=0.5 strength=3
ga bits 50 replacement=generational elite=11 crossover_rate=1 mutation_rate=0
ga bits 6 children=1 duplicates=reject
ga bits 6 children=5 duplicates=accept
ga bits 6 children=12 duplicates=reject
ga bits 9 population=40 generations=60 +rejected +displaced
ga far 2 replacement=generational selection=proportional mutation_rate=0.5
ga drop 40 replacement=generational
ga repair 40 replacement=steady
ga linear 40 replacement=steady
ga dynamic 40 replacement=generational
ga facilities 7 replacement=generational search.name=two_opt search.rate=0.5 reset=3 generations=12
ga facilities 7 replacement=steady search.name=two_opt search.rate=0.5 reset=3 generations=12
ga bits 8 replacement=generational reset=3 islands=3 generations=25 +restarts
ga bits 8 replacement=steady reset=3 islands=3 generations=25 +restarts
ga bits 60 selection=best replacement=generational generations=40 +lost
cellular general 1 population=20 mutation_rate=0.5
cellular general 2 keys population=20 mutation_rate=0.5
cellular general 26 population=20 mutation_rate=0.5
cellular tours 70 keys
cellular general 8 selection=random neighbours=2
cellular general 8 selection=best neighbours=6
cellular general 8 selection=proportional neighbours=10
cellular general 8 selection=relative neighbours=10
cellular few 6 selection=relative population=200 mutation_rate=0
cellular general 8 selection=relative grid=torus width=5 radius=2 population=35
cellular general 8 selection=random grid=torus population=16
cellular general 8 selection=best grid=torus width=5 population=20
cellular general 8 selection=proportional grid=torus width=5 shape=moore population=15
cellular general 8 selection=best grid=torus width=5 radius=2 shape=moore population=30
cellular general 9 group=1 replacement=generational crossover_rate=0.5 mutation_rate=0.5
cellular general 9 group=5 replacement=elitist crossover_rate=0 mutation_rate=1
cellular general 9 group=64 replacement=generational crossover_rate=1 mutation_rate=0
cellular general 6 replacement=generational reset=3 search.name=two_opt search.rate=0.5 +restarts
cellular general 6 replacement=elitist reset=3 search.name=two_opt search.rate=0.5 generations=12
cellular general 5 replacement=generational reset=3 islands=3 generations=25 +restarts
cellular general 5 replacement=elitist reset=3 islands=3 generations=25 +restarts
cellular general 12 selection=random mutation_rate=1 generations=20 +lost
cellular general 7 halo=true islands=1 neighbours=8
cellular general 7 halo=true islands=4
cellular general 7 halo=true islands=4 grid=torus width=5 shape=moore radius=2 population=25
cellular general 7 halo=true islands=3 population=2
cellular general 7 halo=true islands=2 population=5 neighbours=8
cellular general 7 halo=true islands=5 population=10 grid=torus width=5 radius=2
cellular far 2 selection=proportional mutation_rate=0 neighbours=126 population=128
cellular far 2 selection=relative mutation_rate=0 neighbours=2 population=128
memetic facilities 21 near=0.5 crossover=uniform_like generations=25 +crossed +entered +rejected
memetic facilities 21 near=0.5 crossover=uniform generations=25 +crossed +entered
memetic facilities 21 near=0.5 crossover=pmx generations=25 +crossed +entered
memetic facilities 21 near=0.5 crossover=cycle generations=25 +crossed +entered
memetic facilities 21 near=0.5 crossover=order generations=25 +crossed +entered
memetic facilities 10 apart=0.9 near=0.8 exchanges=0.5 fewest=2 population=8 generations=25 +crowded
memetic facilities 2 population=2 reset=3 near=0.0 generations=12
memetic facilities 3 population=2 reset=3 near=0.0 generations=12
memetic facilities 5 population=2 reset=3 near=0.0 generations=12
""".strip().splitlines()
PUGACE = "search.name=swap search.strategy=best search.steps=1 search.scope=position search.every=3"
RUNS += [f"cellular general 6 replacement=elitist reset=3 {PUGACE} generations=12 +restarts"]

Same = Callable[[Archipelago, Any], None]
SAME: dict[str, Same] = {
    "brkga": numpy_brkga.assert_same,
    "de": numpy_de.assert_same,
    "pso": numpy_pso.assert_same,
    "ga": numpy_genomes.assert_same,
    "cellular": numpy_genomes.assert_same,
    "memetic": numpy_memetic.assert_same,
    "tempering": numpy_tempering.assert_same,
}
BOTH: dict[str, Callable[..., tuple[Archipelago, Any]]] = {
    "brkga": numpy_brkga.both,
    "de": numpy_de.both,
    "pso": numpy_pso.both_on,
    "ga": numpy_ga.both,
    "cellular": numpy_cellular.both,
    "memetic": numpy_memetic.both,
    "tempering": numpy_tempering.both,
}
NONE = 2**62


def literal(text: str) -> Any:
    """Return a number, a truth value or a word."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def problem_of(kind: str, n: int) -> Problem:
    if kind in WAYS:
        return knapsack(n, 5).adjusted(
            MkpSettings(infeasible=kind, penalty=0.7 if kind == "linear" else 1.0)
        )
    if kind == "far":
        a, b = np.array([[0, 1 << 30], [0, 0]]), np.array([[0, 1 << 29], [1, 0]])
        return Qap(QapFile("far", None, 2, a, b))
    if kind in NUMBERS:
        return NUMBERS[kind](n)
    if kind == "tours":
        return cities(n)
    own: dict[str, Any] = {"general": {"symmetric": "neither", "diagonal": True}}
    own["few"] = {"largest": 2}
    return Wanted(n) if kind == "bits" else facilities(n, **own.get(kind, {}))


@dataclass(frozen=True)
class Run:
    """The run that a line of `RUNS` describes."""

    algorithm: str
    problem: Problem
    encoding: str
    exchanges: bool
    generations: int
    changes: dict[str, Any]
    wanted: list[str]

    @classmethod
    def of(cls, line: str) -> Self:
        algorithm, kind, n, *words = line.split()
        changes: dict[str, Any] = {}
        for name, _, value in (word.partition("=") for word in words if "=" in word):
            group, _, of_group = name.rpartition(".")
            (changes.setdefault(group, {}) if group else changes)[of_group] = literal(value)
        problem = problem_of(kind, int(n))
        usual = "keys" if algorithm in ("brkga", "de", "pso") else "permutation"
        usual = {"bits": "bits", **dict.fromkeys(WAYS, "bits"), "vector": "vector"}.get(kind, usual)
        usual = "keys" if kind == "keys" or "keys" in words else usual
        wanted = [word[1:] for word in words if word.startswith("+")]
        generations = changes.pop("generations", 8)
        return cls(algorithm, problem, usual, "ring" in words, generations, changes, wanted)

    def both(self, backend: Backend, **more: Any) -> tuple[Archipelago, Any]:
        """Return the run on a device and its NumPy reference."""
        changes, name = self.changes | more, self.algorithm
        if "given" in changes and name in ("brkga", "de", "pso"):
            given = [np.array(solution, np.int64) for solution in changes.pop("given")]
            changes["warm_start"] = lambda: given
        if self.exchanges and name in ("de", "pso"):
            changes["topology"] = "ring"
        if "search" in changes and name == "de":
            changes["search"] = NumpyLocalSearch(self.problem, **changes["search"])
        encoding = [self.encoding] if name in ("ga", "cellular", "pso") else []
        return BOTH[name](backend, self.problem, *encoding, **changes)

    def exchange(self, reference: Any) -> None:
        if self.algorithm == "brkga":
            reference.exchange(2)
        else:
            reference.exchange_in_ring(2)

    def best_of(self, reference: Any) -> list[int]:
        """Return the best feasible cost of each island in the last generation."""
        rows = [reference.cost, getattr(reference, "cost_here", reference.cost)]
        costs = [[int(cost) for cost in (*one, *other)] for one, other in zip(*rows, strict=True)]
        if self.problem.scale.marks:
            costs = [[cost // 2 for cost in island if cost % 2 == 0] for island in costs]
        return [min(island, default=NONE) for island in costs]


@pytest.mark.parametrize("line", RUNS)
def test_runs_equal_the_reference(backend: Backend, line: str) -> None:
    run = Run.of(line)
    mine, reference = run.both(backend)
    same = SAME[run.algorithm]
    same(mine, reference)
    best, left, step = run.best_of(reference), run.generations, 1
    while left:
        mine.advance(step)
        for _ in range(step):
            reference.evolve(1)
            best = [*map(min, best, run.best_of(reference))]
        same(mine, reference)
        left, step = left - step, min(left - step, step % 3 + 1)
        if run.exchanges:
            mine.migrate()
            run.exchange(reference)
            best = [*map(min, best, run.best_of(reference))]
            same(mine, reference)
    if not (run.problem.scale.marks and run.algorithm == "ga"):  # rejected ones may be feasible
        assert [each.best for each in mine.measure()] == best
    found = mine.best()
    if found is not None:
        assert abs(found.cost) == abs(run.problem.cost(found.solution))
    for genes in mine.snapshot()["genes"] if run.encoding == "vector" else ():
        assert mine._encodings[0].holds(genes)
    for name in run.wanted:
        if name == "lost":
            assert best != [min(island) for island in reference.cost], "the best was never lost"
        else:
            kinds = getattr(reference, "kinds", {})
            assert (kinds[name] if name in kinds else getattr(reference, name)) > 0, name


@pytest.mark.parametrize(
    "line",
    [
        "brkga tours 15",
        "de facilities 15",
        "pso bits 60",
        "ga bits 40 replacement=steady islands=3",
        "ga bits 40 replacement=generational islands=3",
        "cellular general 10 islands=3",
        "cellular general 10 keys islands=3",
    ],
)
def test_given_solutions_are_the_first_individuals(backend: Backend, line: str) -> None:
    run = Run.of(line)
    given = run.problem.kind.drawn(5, seed=1)
    mine, _ = run.both(backend, given=given.tolist())
    costs, saved = run.problem.costs(given.astype(np.int64)).tolist(), mine.snapshot()
    for name in ("cost", "offered_cost") if run.algorithm == "pso" else ("cost",):
        found = [saved[name][k, : len(given[k::3])].tolist() for k in range(3)]
        assert found == [costs[k::3] for k in range(3)]


LONG = {
    "brkga": "brkga tours 9 reset=2 topology=none",
    "de": "de tours 9 adaptation=jde reset=2 search.name=two_opt search.rate=0.5 search.steps=1",
    "cellular": "cellular facilities 9 mutation_rate=0.5 reset=2 search.name=swap search.every=3"
    " search.scope=position",
    "ga": "ga linear 33 selection=proportional reset=2",
    "pso": "pso drop 33 reset=2 schedule=linear horizon=5",
    "tempering": "tempering facilities 9 reset=2 " + " ".join(
        f"{name}={value}" for name, value in numpy_tempering.FIXED.items()
    ),
    "memetic": "memetic facilities 9 reset=2",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", LONG)
def test_over_2_to_32_generations_equal_the_reference(backend: Backend, algorithm: str) -> None:
    mine, reference = Run.of(LONG[algorithm]).both(backend)
    mine.advance(2)
    reference.evolve(2)
    for by, generations in ((FAR - 4, 5), (5 * FAR, 2)):
        shift(mine, by)
        shift_reference(reference, by)
        for _ in range(generations):
            mine.advance(1)
            reference.evolve(1)
            SAME[algorithm](mine, reference)
    assert mine.generation == reference.generation == 6 * FAR + 5


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", LONG)
def test_later_generations_draw_different_numbers(backend: Backend, algorithm: str) -> None:
    mine, _ = Run.of(LONG[algorithm]).both(backend)
    mine.advance(2)
    now, found = mine.snapshot(), []
    for times in range(3):
        mine.restore(now, generation=2, migrations=0)
        shift(mine, times * FAR)
        mine.advance(1)
        arrays = mine.snapshot()
        # The best orders of tempering seldom change; its states do.
        found.append(arrays.get("state", arrays["genes"]))
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert not np.array_equal(found[one], found[other])
