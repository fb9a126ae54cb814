"""Edge assembly crossover: the ends of phases, and the tours left to the next population."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eax_for_tests import BLOCK, DONE, SINGLE, field, genes, placed, require_consistent, tours
from problems_for_tests import cities

from islands.algorithms.eax import Eax
from islands.archipelago.measure import ISLAND
from islands.backends.base import Backend
from islands.configuration.defaults import sizes_of
from islands.configuration.sizes import Case
from islands.problems.tsp import Tsp

NO_COST = np.iinfo(np.int64).max
MOST_FAILURES = 2
PHASE, SLEEPS = 0, 5
"""Entries of a stage."""


class Line:
    """The populations of an island, as the rules describe them."""

    def __init__(self) -> None:
        self.inherited, self.failures = NO_COST, 0

    def next_sleeps(self, best: int) -> bool:
        """Return whether the heir of a converged population, its best tour, sleeps."""
        self.failures = 0 if best < self.inherited else self.failures + 1
        self.inherited = best
        sleeps = self.failures == MOST_FAILURES
        self.failures = 0 if sleeps else self.failures
        return sleeps


@pytest.mark.slow
def test_populations_begin_with_the_best_tour_of_the_last_one(backend: Backend) -> None:
    mine = tours(backend, cities(120), population=6, islands=3)
    lines, seen, woken = [Line() for _ in range(3)], set[bool](), 0
    for _ in range(400):
        before, old, costs = field(mine, "stage"), genes(mine), field(mine, "cost")
        mine.advance(1)
        after, new = field(mine, "stage"), genes(mine)
        for island in range(3):
            if before[island, PHASE] == DONE:
                best = int(np.argmin(costs[island]))
                sleeps = lines[island].next_sleeps(int(costs[island, best]))
                assert after[island, [PHASE, SLEEPS]].tolist() == [SINGLE, sleeps]
                assert (new[island, 0] == old[island, best]).all()
                assert (new[island, 1:] != old[island, 1:]).any(axis=1).all()
                seen.add(sleeps)
            elif before[island, SLEEPS]:
                assert (new[island, 0] == old[island, 0]).all()
                if not after[island, SLEEPS]:
                    assert (before[island, PHASE], after[island, PHASE]) == (BLOCK, SINGLE)
                    woken += 1
            assert field(mine, "cost")[island].min() <= costs[island].min()
        require_consistent(mine)
    assert seen == {False, True}
    assert woken > 0


def test_a_sleeping_heir_does_not_change_the_new_tours(backend: Backend) -> None:
    """Children are chosen by length alone, as an heir's edges count in the entropy."""
    problem = cities(80)
    mine = tours(backend, problem, population=8, islands=1, selection="greedy")
    for _ in range(2000):
        mine.advance(1)
        if field(mine, "stage")[0, SLEEPS]:
            break
    saved, generation = mine.snapshot(), mine.generation
    ends = []
    for heir in (saved["genes"][0, 0, :80].copy(), np.arange(80)):
        saved["genes"][0, 0, :80] = heir
        saved["cost"][0, 0] = problem.costs(heir[np.newaxis].astype(np.int64))[0]
        mine.restore(saved, generation=generation, migrations=0)
        steps = 0
        while field(mine, "stage")[0, SLEEPS]:
            mine.advance(1)
            steps += 1
        ends.append((steps, genes(mine)[0]))
    (steps, one), (others, other) = ends
    assert steps == others > 5
    assert (one[1:] == other[1:]).all()
    assert (one[0] != other[0]).any()


def test_a_run_is_restored_while_an_heir_sleeps(backend: Backend) -> None:
    problem = cities(60)
    whole, second = (tours(backend, problem, population=6, topology="ring") for _ in range(2))
    while not field(whole, "stage")[:, SLEEPS].any():
        assert whole.generation < 2000
        whole.advance(1)
    second.restore(whole.snapshot(), generation=whole.generation, migrations=whole.migrations)
    for mine in (whole, second):
        mine.migrate()  # the best tour of an island, which may sleep, emigrates
        mine.advance(1)
        require_consistent(mine)
        mine.advance(60)
    assert whole.digests() == second.digests()


@pytest.mark.parametrize("population", [2, 3])
def test_tiny_populations_keep_their_best_tour(population: int, backend: Backend) -> None:
    mine = tours(backend, cities(30), population=population)
    best = field(mine, "cost").min(axis=1)
    for _ in range(30):
        mine.advance(10)
        now = field(mine, "cost").min(axis=1)
        assert (now <= best).all()
        best = now
    require_consistent(mine)
    assert (field(mine, "island")[:, ISLAND.index("ended")] > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "optimum"), [("d198", 15780), ("fl417", 11861)])
def test_drilled_boards_are_solved(
    name: str, optimum: int, backend: Backend, published: Path
) -> None:
    problem = Tsp.read(published / "tsplib" / f"{name}.tsp")
    mine = tours(backend, problem, population=30, islands=8)
    mine.advance(60)
    assert mine.best().cost == optimum


@pytest.mark.parametrize(
    ("n", "seconds", "on_gpu", "population", "children", "is_greedy"),
    [
        (6000, 60, False, 600, 40, False),
        (8000, 1, False, 30, 50, True),
        (20_000, 2, True, 390, 120, False),
        (65_536, 60, True, 1000, 120, False),
        (65_537, 60, True, 490, 120, True),
    ],
)
def test_the_time_limit_determines_the_population(
    n: int, seconds: float, on_gpu: bool, population: int, children: int, is_greedy: bool
) -> None:
    problem = placed(np.arange(2 * n).reshape(n, 2))
    found = {"islands": 1, "population": population, "children": children}
    more = {"first_tours": "greedy"} if is_greedy else {}
    case = Case(problem, seconds, {"backend": "cuda" if on_gpu else "cpu"}, has_defaults=True)
    assert sizes_of(Eax, case) == found | more


def test_mixed_tours_are_greedy_and_to_the_nearest_in_turn(backend: Backend) -> None:
    problem = cities(80)
    mixed, greedy, nearest = (
        genes(tours(backend, problem, first_tours=way)) for way in ("mixed", "greedy", "nearest")
    )
    assert (mixed[:, ::2] == greedy[:, ::2]).all()
    assert (mixed[:, 1::2] == nearest[:, 1::2]).all()
    assert (greedy != nearest).any()


POPULATION = 101
PLACES = placed(np.random.default_rng(1).integers(0, 100, (8, 2)))


@dataclass
class Stage:
    phase: int
    since: int
    idle: int
    best: int
    best_generation: int
    sleeps: int
    inherited: int
    failures: int


def following(last: Stage, made: int, before: Any, after: Any) -> Stage:
    """Return the stage after the generation `made`."""
    stage = Stage(*astuple(last))
    begins = stage.phase == DONE
    if begins:
        heir = int(after[0])
        failures = 0 if heir < last.inherited else last.failures + 1
        sleeps = failures == 2
        stage = Stage(SINGLE, made, 0, NO_COST, made, sleeps, heir, 0 if sleeps else failures)
    awake = slice(stage.sleeps, None)
    better = int((after[awake] < before[awake]).sum())
    if (best := int(after[awake].min())) < stage.best:
        stage.best, stage.best_generation = best, made
    # Fewer than a third of the population in 3 generations, or than a fiftieth in 5.
    share, most = (3, 3) if stage.phase == SINGLE else (50, 5)
    stage.idle = stage.idle + 1 if better < len(after) / share else 0
    lasted = made - stage.since
    is_idle = stage.idle >= most and (stage.phase == BLOCK or lasted >= 20)
    is_still = made - stage.best_generation >= 30 + lasted // 10
    if not begins and (is_idle or is_still):
        wakes = stage.phase == BLOCK and stage.sleeps
        stage.phase = SINGLE if wakes else stage.phase + 1
        stage.since, stage.best_generation, stage.idle = made, made, 0
        if wakes:
            stage.sleeps, stage.best = 0, NO_COST
    return stage


@pytest.mark.parametrize("generation", [0, pytest.param(3, marks=pytest.mark.slow)])
def test_phases_end_by_the_rules(generation: int, backend: Backend) -> None:
    random, islands, made = np.random.default_rng(generation), 1500, generation + 1
    mine = tours(backend, PLACES, population=POPULATION, islands=islands, children=1)
    mine.advance(generation)
    colony = mine._colonies[0]
    before = random.integers(1000, 2000, (islands, POPULATION))
    # Counts of better individuals near the limits, which are 101 / 3 and 101 / 50.
    counts = random.choice([0, 2, 3, 4, 33, 34, 35, 101], islands)
    is_better = random.random((islands, POPULATION)).argsort(axis=1) < counts[:, np.newaxis]
    after = before - is_better * random.integers(1, 5, (islands, POPULATION))
    lasted = random.choice([0, 1, 9, 10, 18, 19, 20, 21, 99, 100], islands)
    still = 30 + lasted // 10 - random.integers(-1, 3, islands)
    stages = [
        Stage(
            phase=int(random.integers(3)),
            since=made - int(lasted[i]),
            idle=int(random.integers(6)),
            best=int(after[i].min()) + int(random.integers(-1, 2)),
            best_generation=made - int(still[i]),
            sleeps=int(random.integers(2)),
            inherited=int(after[i, 0]) + int(random.integers(-1, 2)),
            failures=int(random.integers(2)),
        )
        for i in range(islands)
    ]
    saved = field(mine, "stage")
    saved[:] = [astuple(each) for each in stages]
    backend.upload(saved, colony.state.arrays["stage"])
    backend.upload(before, colony.state.part("cost", generation))
    backend.upload(after, colony.state.part("cost", made))
    ended = ISLAND.index("ended")
    earlier = field(mine, "island")[:, ended]
    backend.run(colony._launches.generation[0][3:4])
    found = field(mine, "stage").tolist()
    rules = zip(stages, before, after, strict=True)
    assert found == [list(astuple(following(last, made, a, b))) for last, a, b in rules]
    more = field(mine, "island")[:, ended] - earlier
    now_done = [phase == DONE for phase, *_ in found]
    assert more.tolist() == [
        is_done and last.phase != DONE for is_done, last in zip(now_done, stages, strict=True)
    ]
    assert 0 < more.sum() < islands
