"""Edge assembly crossover: the ends of phases, and the tours left to the next population."""

from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eax_for_tests import (
    BLOCK,
    DONE,
    MOST_CUTS,
    SINGLE,
    edges,
    field,
    genes,
    placed,
    require_consistent,
    tours,
)
from problems_for_tests import cities

from islands.algorithms.eax import Eax
from islands.archipelago.archipelago import Archipelago
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
    """The heirs of the successive populations of an island, by the rules."""

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
def test_boards_are_solved(name: str, optimum: int, backend: Backend, published: Path) -> None:
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


Interval = tuple[int, int]


def record_of(reversed_: list[Interval], size: int) -> list[int]:
    """Return the record of a child: the first parent with intervals of its positions reversed."""
    record = [0] * size
    record[0] = 2 * len(reversed_)
    for k, (first, last) in enumerate(reversed_):
        record[1 + 2 * k : 3 + 2 * k] = [first - 1, last]
        link = 1 + MOST_CUTS + 4 * k
        # The ends of the two cuts: before and behind the first one, before and behind the second.
        record[link : link + 4] = [4 * k + 2, 4 * k + 3, 4 * k, 4 * k + 1]
    return record


def with_reversed(tour: list[int], intervals: list[Interval]) -> list[int]:
    for first, last in intervals:
        tour = [*tour[:first], *tour[first : last + 1][::-1], *tour[last + 1 :]]
    return tour


def apart(*reversals: int) -> list[list[Interval]]:
    """Return children that change different parts, each by its number of reversals."""
    children, begin = [], 0
    for count in reversals:
        children.append([(begin + 10 * k + 1, begin + 10 * k + 4) for k in range(count)])
        begin += 10 * count + 10
    return children


def overlapping(children: int, like_first: int) -> list[list[Interval]]:
    """Return children of which the first ones change the same part."""
    found = apart(*[1] * children)
    return [found[0]] * like_first + found[1 : 1 + children - like_first]


@pytest.mark.parametrize(
    ("made", "chosen"),
    [
        (apart(*[1] * 100), range(32)),
        (overlapping(100, 60), [0]),
        (overlapping(100, 40), [0, *range(40, 48)]),
        (apart(*[32] * 15, 33, 32, 1), [*range(15), 16]),
        (apart(*[1] * 5), range(5)),
        ([[(6, 9)], [(11, 14)], [(1, 4)], [(20, 23)]], [0, 3]),
        ([[(1, 4), (25, 28)], [(10, 13)], [(16, 18), (35, 38)]], [0, 1]),
    ],
    ids=[
        *("at most 32", "of the 48 best only the first", "48 are tried", "at most 1024 cuts"),
        *("few", "neighbours have a city in common", "cuts on both sides of another's"),
    ],
)
def test_children_of_different_parts_are_chosen_best_first(
    made: list[list[Interval]], chosen: Any, backend: Backend
) -> None:
    n = 1 + max(last for child in made for _, last in child) + 50
    problem = cities(n)
    mine = tours(backend, problem, population=2, islands=1, children=len(made))
    before = genes(mine)[0].tolist()
    after = replaced(mine, problem, made, made)
    for a in range(2):
        expected = with_reversed(before[a], [each for rank in chosen for each in made[rank]])
        assert edges(after[a]) == edges(expected)


def replaced(
    mine: Archipelago, problem: Tsp, of_0: list[list[Interval]], of_1: list[list[Interval]]
) -> list[list[int]]:
    """Replace both individuals by these children, the best first; return the new tours."""
    backend, colony = mine.backend, mine._colonies[0]
    backend.run(colony._launches.generation[0][:1])
    before, costs = genes(mine)[0].tolist(), field(mine, "cost")[0].tolist()
    outcome, records, mates = (field(mine, name) for name in ("outcome", "record", "mates"))
    outcome[:] = 0
    scores = outcome.view(np.float64)
    # The numbers of children have no order.
    order = np.random.default_rng(5).permutation(outcome.shape[2])
    for pair in range(2):
        a = int(mates[0, pair, 0])
        for rank, (child, intervals) in enumerate(zip(order, (of_0, of_1)[a], strict=False)):
            tour = with_reversed(before[a], intervals)
            scores[0, pair, child, 0] = 1000.0 - rank
            outcome[0, pair, child, 1] = costs[a] - int(problem.costs(np.array([tour]))[0])
            records[0, pair, child] = record_of(intervals, records.shape[-1])
    for name, values in (("outcome", outcome), ("record", records)):
        backend.upload(values, colony.state.arrays[name])
    backend.run(colony._launches.generation[0][1:])
    mine.generation += 1
    require_consistent(mine)
    after: list[list[int]] = genes(mine)[0].tolist()
    return after


@pytest.mark.parametrize("parts", [2, 3])
def test_children_that_make_the_other_parent_are_left_out(parts: int, backend: Backend) -> None:
    made = apart(*[1] * 4)
    problem = cities(90)
    first = np.random.default_rng(2).permutation(90).tolist()
    of_other = [each for child in made[:parts] for each in child]
    other = with_reversed(first, of_other)
    mine = tours(backend, problem, population=2, islands=1, children=4)
    mine.inject([np.array(first), np.array(other)], 0)
    rows = genes(mine)[0].tolist()
    a, b = (
        next(i for i, row in enumerate(rows) if edges(row) == edges(each))
        for each in (first, other)
    )
    children: list[list[list[Interval]]] = [[], []]
    children[a] = made
    after = replaced(mine, problem, *children)
    assert edges(after[b]) == edges(other)
    # The last child that would complete the other parent is left out; the next one is chosen.
    chosen = [*made[: parts - 1], *made[parts:]]
    assert edges(after[a]) == edges(
        with_reversed(first, [each for child in chosen for each in child])
    )
