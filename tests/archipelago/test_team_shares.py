"""The slots of the members of a team: each makes as many children as the others."""

from __future__ import annotations

from typing import Any

import pytest

from islands.algorithms.brkga import Brkga, BrkgaSettings
from islands.algorithms.de import De, DeSettings
from islands.algorithms.ga import Ga, GaSettings
from islands.archipelago.team import shares

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
    slots = shares(POPULATION, members, algorithm.copied())
    assert [slot for each in slots for slot in each] == list(range(POPULATION))
    # An individual is a child if its slot is not one of the first, which are only copied.
    made = [sum(slot >= POPULATION - children for slot in each) for each in slots]
    assert sum(made) == children
    assert max(made) - min(made) <= 1
