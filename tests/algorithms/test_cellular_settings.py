"""Settings of the cellular algorithm, and the populations that they need."""

from __future__ import annotations

from typing import Any

import pytest

from islands.algorithms.cellular import Cellular, CellularSettings
from islands.errors import UsageError


@pytest.mark.parametrize(
    ("settings", "population", "encoding", "message"),
    [
        ({"neighbours": 5}, 20, "permutation", "neighbours=5: must be even"),
        ({}, 4, "permutation", "population=4: a ring with neighbours=4 needs at least 5"),
        (
            {"grid": "torus"},
            22,
            "keys",
            "torus of 11 rows and 2 columns: radius=1 needs at least 3",
        ),
        ({"grid": "torus", "width": 6}, 20, "keys", "width=6: must divide population=20"),
        ({"grid": "torus", "radius": 3}, 36, "keys", "a population such as 49"),
        (
            {"crossover": "pmx"},
            20,
            "keys",
            "crossover=pmx supports permutation, but the encoding is",
        ),
        ({"crossover": "pmxx"}, 20, "permutation", "Did you mean 'pmx'?"),
        (
            {"mutation": "flip"},
            20,
            "permutation",
            "mutation=flip supports bits, but the encoding is",
        ),
        ({"selection": "roulette"}, 20, "keys", "Known: random, proportional, relative, best"),
        ({"group": 0}, 20, "keys", "group=0: must be from 1 to 1000000"),
        (
            {"width": 5},
            20,
            "keys",
            "width=5: only has an effect with grid=torus, but grid is ring. Leave width at 0, or"
            " choose grid=torus",
        ),
        (
            {"radius": 2},
            20,
            "keys",
            "radius=2: only has an effect with grid=torus, but grid is ring. Leave",
        ),
        (
            {"shape": "moore"},
            20,
            "keys",
            "shape=moore: only has an effect with grid=torus, but grid is ring.",
        ),
        (
            {"grid": "torus", "neighbours": 6},
            20,
            "keys",
            "neighbours=6: only has an effect with grid=ring, but grid is torus. Leave neighbours"
            " at 4, or choose grid=ring",
        ),
    ],
)
def test_invalid_settings_are_refused(
    settings: dict[str, Any], population: int, encoding: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        Cellular(CellularSettings.build(settings), population, encoding)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "population", "fewest", "message"),
    [
        (
            {},
            2,
            3,
            "islands=2 x population=2: a ring with neighbours=4 needs at least 5 individuals.",
        ),
        ({"neighbours": 8}, 5, 2, "islands=1 x population=5: a ring with neighbours=8 needs"),
        (
            {"grid": "torus", "width": 4},
            4,
            3,
            "islands=2 x population=4 on a torus of 2 rows and 4 columns: radius=1 needs",
        ),
    ],
)
def test_grid_of_all_slices_must_contain_a_neighbourhood(
    settings: dict[str, Any], population: int, fewest: int, message: str
) -> None:
    slices = Cellular(CellularSettings.build({"halo": True, **settings}), population, "keys")
    slices.require_islands(fewest)
    with pytest.raises(UsageError) as caught:
        slices.require_islands(fewest - 1)
    assert message in str(caught.value)


def test_settings_of_the_other_grid_may_have_default_values() -> None:
    whole = CellularSettings.build({}).to_mapping()
    assert CellularSettings.build(whole | {"grid": "torus"}).grid == "torus"


def test_torus_is_as_square_as_possible() -> None:
    widths = {20: 4, 2048: 32, 100: 10}
    for population, width in widths.items():
        settings = CellularSettings.build({"grid": "torus"})
        assert Cellular(settings, population, "keys").width == width
