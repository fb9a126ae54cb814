"""Which children of a pair replace its first parent together, with children made up here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from eax_for_tests import MOST_CUTS, edges, field, genes, require_consistent, tours
from problems_for_tests import cities

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.problems.tsp import Tsp

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
    # The best child is any of them.
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
def test_children_that_make_the_other_parent_are_not_all_chosen(
    parts: int, backend: Backend
) -> None:
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
    # The last child that the other parent needs is left out, the one behind it is not.
    chosen = [*made[: parts - 1], *made[parts:]]
    assert edges(after[a]) == edges(
        with_reversed(first, [each for child in chosen for each in child])
    )
