"""The genetic algorithm on all devices compared with a NumPy reference, bit for bit."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy_ga import assert_evolves, both
from problems_for_tests import facilities, flat
from test_operators import Wanted

from islands.backends.base import Backend

GENERATIONAL = {"replacement": "generational"}


@pytest.mark.parametrize("cost", [0, 720])
def test_equal_parents_are_equally_likely(backend: Backend, cost: int) -> None:
    changes = GENERATIONAL | {"selection": "proportional", "mutation_rate": 0}
    mine, reference = both(backend, flat(9, cost), "permutation", **changes, population=10)
    ranked = [(genome, cost) for genome in reference.genomes[0]]
    drawn = Counter(
        reference.genomes[0].index(mate)
        for individual in range(500)
        for mate in reference.mates((1, 0, 1, individual), ranked, list(range(10)))
    )
    assert all(60 < drawn[slot] < 140 for slot in range(10))
    assert_evolves(mine, reference, 3)


def test_child_with_equal_cost_replaces_no_individual(backend: Backend) -> None:
    mine, reference = both(backend, flat(9, 720), "permutation", duplicates="accept")
    before = mine.snapshot()["genes"]
    assert_evolves(mine, reference, 3)
    assert np.array_equal(mine.snapshot()["genes"], before)


@pytest.mark.parametrize("selection", ["tournament", "proportional"])
def test_duplicates_are_compared_by_their_genes(backend: Backend, selection: str) -> None:
    problem = Wanted(12)
    problem.weight[:] = 1
    mine, reference = both(backend, problem, population=30, selection=selection)
    assert_evolves(mine, reference, 15)
    assert min(reference.refused, reference.displaced) > 0
    assert any(len(set(cost)) < 15 for cost in reference.cost), "no costs are equal"


@pytest.mark.parametrize("replacement", ["generational", "steady"])
@pytest.mark.parametrize("encoding", ["permutation", "keys"])
def test_improvers_change_children(backend: Backend, replacement: str, encoding: str) -> None:
    search = {"name": "two_opt", "rate": 0.5}
    problem = facilities(7)
    mine, reference = both(
        backend, problem, encoding, replacement=replacement, search=search, reset=3
    )
    if encoding == "permutation":
        assert_evolves(mine, reference, 12)
        assert reference.restarts > 0
    mine.advance(5)
    saved = mine.snapshot()
    for rows, costs in zip(saved["genes"], saved["cost"], strict=True):
        assert problem.costs(mine._encodings[0].decode(rows)).tolist() == costs.tolist()
