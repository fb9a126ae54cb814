"""The slots of the members of a team: each makes as many children as the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import islands
from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.algorithms.de import De, DeSettings
from islands.algorithms.ga import Ga, GaSettings
from islands.archipelago.team import divided
from islands.configuration.resolve import layers
from islands.parallel import World, world
from islands.run.request import resolved
from islands.run.runner import run
from islands.run.single import Output

POPULATION = 256
STEADY = Ga(GaSettings(), POPULATION)
FEW = Ga(GaSettings(children=10), POPULATION)
GENERATIONAL = Ga(GaSettings(replacement="generational", elite=16), POPULATION)
BRKGA = Brkga(BrkgaSettings(), POPULATION)
DE = De(DeSettings(), POPULATION)


@pytest.mark.parametrize("members", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(
    ("algorithm", "children"),
    [(STEADY, 128), (FEW, 10), (GENERATIONAL, 240), (BRKGA, POPULATION - BRKGA.kept()), (DE, 256)],
)
def test_members_make_equally_many_children(algorithm: Any, children: int, members: int) -> None:
    slots = divided(POPULATION, members, algorithm.copied())
    assert [slot for each in slots for slot in each] == list(range(POPULATION))
    # An individual is a child if its slot is not one of the first, which are only copied.
    made = [sum(slot >= POPULATION - children for slot in each) for each in slots]
    assert sum(made) == children
    assert max(made) - min(made) <= 1


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("algorithm", ["ga", "brkga"])
def test_generation_0_and_later_ones_are_divided_equally(algorithm: str) -> None:
    calls = 0

    def cost(order: NDArray[Any]) -> int:
        nonlocal calls
        calls += 1
        return int(abs(np.diff(order)).sum())

    def made(ranks: World, generations: int) -> tuple[str, int]:
        nonlocal calls
        options = {"algorithm": algorithm, "islands": 1, "population": 48, "backend": "cpu"}
        stop = f"generations={generations}"
        problem = islands.permutation(12, function=cost, name="counted")
        asked = layers({**options, "threads": 1, "instance": "counted", "stop": stop})
        calls = 0
        return run(*resolved(asked, problem), ranks, Output()).digest, calls

    ranks = world()
    for generations in (1, 6):
        alone, whole = made(World(), generations)
        shared, own = made(ranks, generations)
        assert shared == alone
        # A few calls find out the type of costs, and check the best solution.
        counts = ranks.allgather(own)
        assert max(counts) - min(counts) <= 2 + 2 * generations
        assert sum(counts) < whole + 8 * ranks.size
