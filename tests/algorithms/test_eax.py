"""Edge assembly crossover: its parts compared with definitions in Python, and small runs."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from eax_for_tests import (
    BLOCK,
    DONE,
    MOST_CUTS,
    MOST_CYCLES,
    MOST_WALKS,
    PER_WALK,
    SINGLE,
    compatible,
    edges,
    field,
    genes,
    placed,
    require_consistent,
    shortest,
    stage,
    tours,
    weights,
)
from problems_for_tests import cities
from programs_for_tests import for_gpu, parts, require_compiles

from islands.algorithms import eax
from islands.algorithms.base import Shape
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend, Block, Fork
from islands.problems.distances import _DEGREE as DEGREE


def test_tours_stay_consistent_through_all_phases(backend: Backend) -> None:
    mine = tours(backend, cities(80))
    stages, costs = set[int](), [mine.best().cost]
    for _ in range(60):
        mine.advance(1)
        stages |= {stage(mine, island) for island in range(2)}
        require_consistent(mine)
        costs.append(mine.best().cost)
    assert costs == sorted(costs, reverse=True)
    assert stages == {SINGLE, BLOCK, DONE}
    assert field(mine, "island")[:, 4].min() > 0  # restarts


def test_migrants_change_positions_and_frequencies(backend: Backend) -> None:
    mine = tours(backend, cities(60), islands=3, topology="ring")
    for _ in range(3):
        mine.advance(4)
        mine.migrate()
        require_consistent(mine)
    mine.inject([np.arange(60)], 0)
    require_consistent(mine)


def cycles_of(mine: Archipelago, island: int, pair: int) -> list[list[int]]:
    """Return the AB-cycles of a pair as positions in the first parent."""
    table = field(mine, "table")[island, pair].tolist()
    positions = field(mine, "cycles")[island, pair].tolist()
    firsts, sizes = table[:MOST_CYCLES], table[MOST_CYCLES : 2 * MOST_CYCLES]
    count = table[2 * MOST_CYCLES]
    return [
        positions[first : first + 2 * size]
        for first, size in zip(firsts[:count], sizes, strict=False)
    ]


def edges_of(row: list[int], cycle: list[int]) -> tuple[Counter[frozenset[int]], ...]:
    """Return the edges of A and those of B that an AB-cycle has."""
    assert len(cycle) % 2 == 0
    walk = [int(row[place]) for place in cycle]
    steps = [frozenset(step) for step in zip(walk, walk[1:] + walk[:1], strict=True)]
    return Counter(steps[::2]), Counter(steps[1::2])


def find_cycles(mine: Archipelago, phase: int) -> None:
    """Find the AB-cycles of all pairs, in a phase."""
    stages = field(mine, "stage")
    stages[:, 0] = phase
    colony = mine._colonies[0]
    mine.backend.upload(stages, colony.state.arrays["stage"])
    mine.backend.run([part_of_fork(colony._launches.generation[0][0], 0, 1)])


@pytest.mark.parametrize("generation", [0, 6])
@pytest.mark.parametrize("phase", [SINGLE, BLOCK])
def test_cycles_divide_the_edges_that_differ(generation: int, phase: int, backend: Backend) -> None:
    mine = tours(backend, cities(70), population=8, children=100)
    mine.advance(generation)
    find_cycles(mine, phase)
    for island, rows in enumerate(genes(mine)):
        for pair, (a, b) in enumerate(field(mine, "mates")[island].tolist()):
            one, other = edges(rows[a].tolist()), edges(rows[b].tolist())
            found_a, found_b = Counter[frozenset[int]](), Counter[frozenset[int]]()
            for cycle in cycles_of(mine, island, pair):
                of_a, of_b = edges_of(rows[a].tolist(), cycle)
                found_a.update(of_a)
                found_b.update(of_b)
            assert (found_a, found_b) == (one - other, other - one)
            differing = field(mine, "table")[island, pair, 2 * MOST_CYCLES + 1]
            assert differing == (one - other).total()
    firsts, seconds = np.moveaxis(field(mine, "mates"), 2, 0)
    for first, second in zip(firsts, seconds, strict=True):
        assert (np.sort(first) == np.arange(8)).all()
        assert (np.roll(first, -1) == second).all()


@pytest.mark.slow
def test_walks_at_the_same_time_use_each_edge_once(backend: Backend) -> None:
    mine = tours(backend, cities(4000), population=3, children=60, first_tours="random")
    find_cycles(mine, SINGLE)
    seen = set[int]()
    for island, rows in enumerate(genes(mine)):
        for pair, (a, b) in enumerate(field(mine, "mates")[island].tolist()):
            tour = rows[a].tolist()
            one, other = edges(tour), edges(rows[b].tolist())
            differing = {city for edge in one - other for city in edge}
            walks = min(MOST_WALKS, len(differing) // PER_WALK)
            seen.add(walks)
            room = 2 * field(mine, "position").shape[-1] // walks
            table = field(mine, "table")[island, pair].tolist()
            found = cycles_of(mine, island, pair)
            of_a, of_b = ([Counter[frozenset[int]]() for _ in range(walks)] for _ in "ab")
            for begin, cycle in zip(table, found, strict=False):
                more_of_a, more_of_b = edges_of(tour, cycle)
                of_a[begin // room].update(more_of_a)
                of_b[begin // room].update(more_of_b)
            assert min(each.total() for each in of_a) > 40
            assert all(each <= one - other for each in of_a)
            assert all(each <= other - one for each in of_b)
    assert min(seen) > 2


@pytest.mark.parametrize("n", [8, 100, 5000, 22_000, 65_536, 100_000, 240_000])
def test_the_graph_of_a_pair_fits_into_shared_memory(n: int) -> None:
    """The limits are a third of the memory of a large GPU, and that of compute capability 8.6."""
    size, most = eax.size_class(n), 73 if n <= 65_536 else 97 if n <= 100_000 else 224
    assert n <= size
    # A path of 512 numbers of 32 bits, two lists of 128 cycles, and eight counts.
    assert 4 * (512 + 2 * 128 + 8) <= eax.graph_bytes(size) <= most << 10
    assert eax.search_bytes(n) <= most << 10


def test_more_children_than_cycles_that_fit(backend: Backend) -> None:
    mine = tours(backend, cities(3000), islands=1, population=3, children=200, first_tours="random")
    find_cycles(mine, SINGLE)
    assert (field(mine, "table")[:, :, 2 * MOST_CYCLES] == MOST_CYCLES).all()
    mine.advance(2)
    require_consistent(mine)


@pytest.mark.parametrize("selection", ["entropy", "greedy"])
def test_heavy_children_are_made_if_they_promise_more(selection: str, backend: Backend) -> None:
    problem = cities(400)
    mine = tours(backend, problem, population=24, islands=1, selection=selection)
    mine.advance(2)
    fork = mine._colonies[0]._launches.generation[0][0]
    backend.run([part_of_fork(fork, 0, 2)])
    light = field(mine, "outcome").view(np.float64)[0, ..., 0]
    promise = field(mine, "promise")[0]
    assert (light[promise > 0] == 0).all()
    is_promising = promise > light.max(axis=1, keepdims=True)
    backend.run([part_of_fork(fork, 2, 3)])
    scores, gains = field(mine, "outcome").view(np.float64)[0, ..., 0], field(mine, "outcome")[0]
    assert (scores[~is_promising] == light[~is_promising]).all()
    made = np.argwhere(is_promising & (scores > 0)).tolist()
    assert len(made) > 5
    assert is_promising.sum() < (promise > 0).sum()
    before, records = genes(mine)[0], field(mine, "record")[0]
    for pair, child in made:
        a = int(field(mine, "mates")[0, pair, 0])
        tour = assembled(before, a, records[pair, child])
        assert sorted(tour) == list(range(400))
        length = int(problem.costs(np.array([tour]))[0])
        assert field(mine, "cost")[0, a] - gains[pair, child, 1] == length


def part_of_fork(launches: Any, first: int, end: int) -> Fork:
    """Return some of the launches that make children: those of AB-cycles, light and heavy ones."""
    return Fork([each[first:end] for each in launches.sequences])


def assembled(rows: Any, a: int, record: Any) -> list[int]:
    """Return the tour of a child: the first parent, cut and joined as its record says."""
    tour, cuts = rows[a].tolist(), int(record[0])
    places = record[1 : 1 + cuts].tolist()
    links = record[1 + MOST_CUTS : 1 + MOST_CUTS + 2 * cuts].tolist()
    n, mates = len(tour), dict[int, list[int]]()
    for i, city in enumerate(tour):
        mates[city] = [tour[i - 1], tour[(i + 1) % n]]

    def city_at(end: int) -> int:
        return int(tour[(places[end // 2] + end % 2) % n])

    for i in range(cuts):
        one, other = city_at(2 * i), city_at(2 * i + 1)
        mates[one].remove(other)
        mates[other].remove(one)
    for end, other in enumerate(links):
        mates[city_at(end)].append(city_at(other))
    path = [tour[0]]
    before = mates[tour[0]][0]
    while len(path) <= n:
        following = list(mates[path[-1]])
        following.remove(before)
        before = path[-1]
        if following[0] == path[0]:
            break
        path.append(following[0])
    return path


@pytest.mark.parametrize(
    ("n", "children", "selection", "phase", "together"),
    [
        *((300, 30, rule, phase, 2) for rule in ("entropy", "greedy") for phase in (SINGLE, BLOCK)),
        pytest.param(2000, 120, "entropy", SINGLE, 10, marks=pytest.mark.slow),
    ],
)
def test_children_are_tours_and_gain_what_they_say(
    n: int, children: int, selection: str, phase: int, together: int, backend: Backend
) -> None:
    problem = cities(n)
    mine = tours(backend, problem, population=10, children=children, selection=selection)
    mine.advance(2)
    stages = field(mine, "stage")
    stages[:, 0] = phase
    backend.upload(stages, mine._colonies[0].state.arrays["stage"])
    backend.run(mine._colonies[0]._launches.generation[0][:1])
    scores = field(mine, "outcome").view(np.float64)[..., 0]
    gains = field(mine, "outcome")[..., 1]
    accepted, most, before, mates = 0, 0, genes(mine), field(mine, "mates")
    costs, records = field(mine, "cost"), field(mine, "record")
    gained: dict[tuple[int, int], int] = {}
    for island, pair, child in np.argwhere(scores > 0).tolist():
        a, b = mates[island, pair].tolist()
        tour = assembled(before[island], a, records[island, pair, child])
        assert sorted(tour) == list(range(n))
        length = int(problem.costs(np.array([tour]))[0])
        assert costs[island, a] - gains[island, pair, child] == length < costs[island, a]
        assert edges(tour) != edges(before[island, b].tolist())
        differing = len(edges(before[island, a].tolist()) - edges(before[island, b].tolist()))
        until_b = int(costs[island, a] - costs[island, b])
        of_pair = (records[island, pair], scores[island, pair], gains[island, pair])
        chosen = compatible(*of_pair, n, until_b, differing)
        gained[island, a] = sum(int(gains[island, pair, each]) for each in chosen)
        most = max(most, len(chosen))
        accepted += 1
    assert accepted > 5
    assert most >= together
    if selection == "greedy":
        assert (scores[scores > 0] == gains[scores > 0]).all()
    backend.run(mine._colonies[0]._launches.generation[0][1:])
    mine.generation += 1
    after = field(mine, "cost")
    for island in range(2):
        expected = [costs[island, a] - gained.get((island, a), 0) for a in range(10)]
        assert after[island].tolist() == expected
    require_consistent(mine)


SMALL = {
    "five": placed([(0, 0), (9, 1), (4, 7), (2, 2), (8, 8)]),
    "nine": placed(np.random.default_rng(1).integers(0, 100, (9, 2))),
    "attractive": placed(np.random.default_rng(2).integers(0, 99, (8, 2)), "ATT"),
    "ceiling": placed(np.random.default_rng(3).integers(0, 99, (8, 2)), "CEIL_2D"),
    "degrees": placed(np.random.default_rng(4).integers(-80, 80, (8, 2)), "GEO"),
    "a line": placed([(5, y) for y in (0, 3, 3, 8, 9, 20, 21)]),
    "one place": placed([(5, 5)] * 6),
    "weights": weights(8),
    **{f"{n}": placed(np.random.default_rng(n).integers(0, 100, (n, 2))) for n in (1, 2, 3, 4)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_small_problems_are_solved(name: str, backend: Backend) -> None:
    mine = tours(backend, SMALL[name], population=3 if SMALL[name].size < 5 else 20)
    mine.advance(20)
    assert mine.best().cost == shortest(SMALL[name])


def test_a_grid_with_many_cities_at_each_place_is_solved(backend: Backend) -> None:
    # Each place has more cities than a city has neighbours.
    order = np.random.default_rng(1).permutation(100 * (DEGREE + 1))
    problem = placed([(10 * (i % 10), 10 * (i // 10 % 10)) for i in order.tolist()])
    mine = tours(backend, problem, islands=1, population=20)
    mine.advance(40)
    assert mine.best().cost == 1000
    require_consistent(mine)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "position"),
    [
        ("NARROW", 8, np.int32),
        ("fast_vertices", lambda pitch: 0, np.uint16),
        ("MOST_INSIDE", 8, np.uint16),
    ],
    ids=["wide positions", "graphs outside shared memory", "comparisons outside shared memory"],
)
def test_other_memory_gives_the_same_tours(
    name: str, value: Any, position: Any, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = cities(120)
    usual = tours(backend, problem)
    usual.advance(12)
    monkeypatch.setattr(eax, name, value)
    other = tours(backend, problem)
    other.advance(12)
    assert field(other, "position").dtype == position
    assert usual.digests() == other.digests()


def test_without_restarts_a_converged_island_stays(backend: Backend) -> None:
    mine = tours(backend, cities(40), restart=False)
    mine.advance(80)
    assert stage(mine) == DONE
    before = mine.digests()
    mine.advance(3)
    assert mine.digests() == before


@pytest.mark.gpu
@pytest.mark.parametrize("n", [50, 70_000])
def test_the_program_compiles_for_gpus(n: int) -> None:
    problem = placed(np.random.default_rng(n).integers(0, 10**6, (n, 2)))
    made = parts(problem, "eax", "permutation")
    made.algorithm.fields(Shape(1, 20, made.encoding.pitch, made.encoding.gene))
    assert made.macros()["EAX_WIDE"] == str(int(n == 70_000))
    require_compiles(for_gpu("program.cuh", made.macros(), Block(threads=256)))
