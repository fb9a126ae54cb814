"""Published instances of models: their names, folders and best known values."""

from __future__ import annotations

from pathlib import Path

import pytest
from instance_texts import entry_of

import islands

NAMES = [
    "jobshop/ft06",
    "flowshop/tai20_5_0",
    "setcover/scpclr10",
    "maxcut/G1",
    "qubo/gka2f",
    "qubo/bqp1000-2",
]


@pytest.mark.published
@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_problems(published: Path, name: str) -> None:
    problem = islands.load(name)
    assert problem.instance == name
    assert problem.best_known == entry_of(name)[1]


@pytest.mark.slow
@pytest.mark.published
def test_the_optimum_of_a_published_shop_is_found(published: Path) -> None:
    result = islands.solve("jobshop/ft06", algorithm="tempering", generations=200, seed=1)
    assert result.cost == 55
