"""Islands with edge assembly crossover, and what their arrays must contain."""

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
from colonies_for_tests import one_colony

from islands.algorithms import eax
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.instances.tsplib import TspFile
from islands.migration import MigrationSettings
from islands.problems.base import Solution
from islands.problems.tsp import Tsp

SINGLE, BLOCK, DONE = range(3)
MOST_CUTS, MOST_CYCLES = 320, 128
MOST_WALKS, PER_WALK = 8, 512


def tours(
    backend: Backend,
    problem: Tsp,
    population: int = 12,
    islands: int = 2,
    seed: int = 3,
    topology: str = "none",
    start: tuple[Solution, ...] = (),
    **settings: Any,
) -> Archipelago:
    mine = one_colony(
        problem=problem, algorithm="eax", encoding="permutation",
        settings=eax.EaxSettings(**settings), population=population, islands=islands, seed=seed,
        migration=MigrationSettings(topology=topology, interval=4, migrants=2), backend=backend,
        warm_start=lambda: start,
    )  # fmt: skip
    mine.start()
    return mine


def field(mine: Archipelago, name: str) -> Any:
    return mine.backend.download(mine._colonies[0].state.part(name, mine.generation))


def genes(mine: Archipelago) -> Any:
    return field(mine, "genes")[..., : mine._colonies[0]._problem.size]


def edges(tour: list[int]) -> Counter[frozenset[int]]:
    return Counter(frozenset((a, b)) for a, b in zip(tour, tour[1:] + tour[:1], strict=True))


def stage(mine: Archipelago, island: int = 0) -> int:
    return int(field(mine, "stage")[island, 0])


def placed(points: Any, metric: str = "EUC_2D") -> Tsp:
    places = np.asarray(points, float)
    return Tsp(TspFile("points", None, len(places), metric, coordinates=places))


def weights(n: int, most: int = 100, least: int = 1) -> Tsp:
    """Return random weights below `most`, which break the triangle inequality."""
    half = np.triu(np.random.default_rng(n).integers(least, most, (n, n)), 1).astype(np.int32)
    return Tsp(TspFile("weights", None, n, "EXPLICIT", matrix=half + half.T))


def shortest(problem: Tsp) -> int:
    """Return the length of the best tour, by trying all."""
    every = np.array([(0, *rest) for rest in permutations(range(1, problem.size))])
    return int(problem.costs(every).min())


def require_consistent(mine: Archipelago) -> None:
    problem, found = mine._colonies[0]._problem, genes(mine)
    near = mine.backend.download(
        mine._colonies[0]._launches.arguments[2].members["near"].members["table"]
    )
    degree = near.shape[1]
    for island, rows in enumerate(found):
        assert (np.sort(rows, axis=1) == np.arange(problem.size)).all()
        assert (field(mine, "cost")[island] == problem.costs(rows.astype(np.int64))).all()
        positions = field(mine, "position")[island, :, : problem.size]
        assert (positions == np.argsort(rows, axis=1)).all()
        expected = np.zeros((problem.size, degree), np.int32)
        counted = sum((edges(row) for row in rows.tolist()), Counter[frozenset[int]]())
        for edge, count in counted.items():
            low, high = sorted(edge)
            for city, other in ((low, high), (high, low)):
                places = np.flatnonzero(near[city] == other)
                if places.size:  # a row may repeat a neighbour: the last place counts
                    expected[city, places[-1]] += count
                    break
        begin = island * expected.size
        flat = field(mine, "frequency").reshape(-1)[begin : begin + expected.size]
        assert (flat == expected.reshape(-1)).all()


def compatible(
    records: Any, scores: Any, gains: Any, n: int, until_b: int, differing: int
) -> list[int]:
    """Return the children that replace their parent together, of the best ones."""
    taken: list[int] = []
    for child in np.argsort(-scores, kind="stable")[:48].tolist():
        if scores[child] == 0:
            break
        cuts = [set(records[each, 1 : 1 + records[each, 0]].tolist()) for each in (child, *taken)]
        size, gain = sum(map(len, cuts)), int(gains[[child, *taken]].sum())
        is_b = gain == until_b and size >= differing
        if (
            size <= 1024
            and len(taken) < 32
            and not is_b
            and not any(interfere(cuts[0], other, n) for other in cuts[1:])
        ):
            taken.append(child)
    return taken


def interfere(one: set[int], other: set[int], n: int) -> bool:
    """Return whether cuts have a city in common, or take turns more than once round the tour."""
    if any((cut + by) % n in other for cut in one for by in (-1, 0, 1)):
        return True
    sides = [cut in one for cut in sorted(one | other)]
    return sum(side != sides[i - 1] for i, side in enumerate(sides)) > 2
