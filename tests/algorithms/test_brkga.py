"""BRKGA with several parents, with any decoding and in any number of launches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_brkga import archipelago, assert_same, both, genes_and_costs
from problems_for_tests import cities

from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend


@pytest.mark.parametrize(
    ("parents", "elite_parents", "bias", "shares"),
    [
        (3, 2, "constant", (1 / 3, 2 / 3)),
        (3, 1, "linear", (6 / 11, 9 / 11)),
        (4, 4, "quadratic", (144 / 205, 180 / 205, 196 / 205)),
        (8, 3, "constant", tuple(i / 8 for i in range(1, 8))),
    ],
)
def test_several_parents_equal_the_reference(
    backend: Backend, parents: int, elite_parents: int, bias: str, shares: Any, tmp_path: Path
) -> None:
    own = {"parents": parents, "elite_parents": elite_parents, "bias": bias, "islands": 1}
    mine, reference = both(backend, cities(30, tmp_path), shares, **own)
    mine.advance(5)
    reference.evolve(5)
    assert_same(mine, reference)


def evolved(mine: Archipelago, *generations: int) -> list[tuple[int, str]]:
    """Return the digests after these numbers of generations, with migrations between them."""
    mine.start()
    for number, each in enumerate(generations):
        if number:
            mine.migrate()
        mine.advance(each)
    return mine.digests()


@pytest.mark.slow
@pytest.mark.parametrize("decoding", ["plain", "host"])
def test_all_decodings_give_the_same_run(backend: Backend, decoding: str, tmp_path: Path) -> None:
    ways = [{"decoding": way, "reset": 3} for way in ("sorted", decoding)]
    one, other = (evolved(archipelago(backend, cities(70, tmp_path), **way), 7, 8) for way in ways)
    assert one == other


@pytest.mark.slow
def test_keys_in_global_memory_give_the_same_run(backend: Backend, tmp_path: Path) -> None:
    problem = cities(70_000, tmp_path)
    one, other = (archipelago(device, problem) for device in (choose("cpu", 1), backend))
    assert evolved(one, 2, 1) == evolved(other, 2, 1)
    assert problem.cost(other.best().solution) == other.best().cost


def test_large_populations_are_ranked_correctly(backend: Backend, tmp_path: Path) -> None:
    mine = archipelago(backend, cities(8, tmp_path), population=40_000, islands=2)
    evolved(mine, 2, 0)
    order = mine.snapshot()["order"]
    for (_, costs), ranked in zip(genes_and_costs(mine), order, strict=True):
        assert ranked.tolist() == np.argsort(costs, kind="stable").tolist()
