"""The cellular algorithm with equal costs, and with improved keys."""

from __future__ import annotations

from collections import Counter

import pytest
from numpy_cellular import assert_evolves, both
from problems_for_tests import facilities, flat

from islands.backends.base import Backend


@pytest.mark.parametrize("cost", [0, 720])
@pytest.mark.parametrize("selection", ["proportional", "relative"])
def test_equal_neighbours_are_equally_likely(backend: Backend, selection: str, cost: int) -> None:
    mine, reference = both(backend, flat(9, cost), selection=selection, population=200, islands=1)
    assert {each for island in reference.cost for each in island} == {cost}
    chosen = Counter(
        [reference.genomes[k][s] for k, s in reference.neighbourhood(0, slot)].index(
            reference.mate(0, slot)
        )
        for slot in range(200)
    )
    assert all(30 < chosen[k] < 70 for k in range(4))
    assert_evolves(mine, reference, 3)


@pytest.mark.parametrize("encoding", ["permutation", "keys"])
def test_elitist_replacement_keeps_a_parent_with_equal_cost(
    backend: Backend, encoding: str
) -> None:
    mine, reference = both(backend, flat(9, 720), encoding, replacement="elitist")
    before = mine.snapshot()["genes"].tobytes()
    assert_evolves(mine, reference, 3)
    assert mine.snapshot()["genes"].tobytes() == before


def test_improved_keys_decode_to_their_cost(backend: Backend) -> None:
    problem = facilities(9, symmetric="neither")
    search = {"name": "swap", "strategy": "best", "steps": 1, "scope": "position", "every": 3}
    mine, _ = both(backend, problem, "keys", search=search, replacement="elitist")
    mine.advance(9)
    saved = mine.snapshot()
    for genomes, costs in zip(saved["genes"], saved["cost"], strict=True):
        assert problem.costs(mine._encodings[0].decode(genomes)).tolist() == costs.tolist()
    # Each individual makes two children per generation, and eight exchanges every third one.
    assert sum(each.evaluations for each in mine.measure()) == 24 * (1 + 2 * 9 + 8 * 3)
