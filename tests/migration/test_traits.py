"""Fields that travel: an individual takes them to other islands besides its genes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import in_teams, one_colony
from numpy.typing import NDArray
from numpy_de import NumpyDe
from numpy_migration import NumpyMigration
from problems_for_tests import facilities

from islands.algorithms import ALGORITHMS
from islands.algorithms.base import Shape
from islands.algorithms.cellular import CellularSettings
from islands.algorithms.de import De, DeSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.backends.state import Field
from islands.errors import InputError, UsageError
from islands.migration import MigrationSettings
from islands.parallel import World

N, POPULATION, ISLANDS, SEED = 13, 30, 5, 4
CHANGED = {"adaptation": "jde", "F": 0.5, "Cr": 0.6}
MIGRATIONS = [
    {"topology": "elite", "migrants": 1},
    {"topology": "ring", "delay": 1, "selection": "random", "replacement": "random"},
    {"topology": "random", "selection": "roulette", "replacement": "if-better"},
    {"topology": "torus", "delay": 1, "duplicates": "refuse"},
]
TRAITS: dict[str, Field] = {
    "letters": Field((POPULATION, 3), np.uint8, travels=True),
    "row": Field((POPULATION, 2, 4), np.float64, in_halves=True, travels=True),
    "number": Field((POPULATION,), np.int64, in_halves=True, travels=True),
    "stays": Field((POPULATION,), np.int64),
}
"""Fields of odd and even sizes, with and without halves."""


class Tagged(De):
    """Differential evolution with fields that its kernels do not use."""

    def fields(self, shape: Shape) -> dict[str, Field]:
        own = {"changed": Field((POPULATION,), np.int32, kind="scratch")}
        return super().fields(shape) | TRAITS | own


@pytest.fixture
def tagged(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setitem(ALGORITHMS, "tagged", Tagged)
    return "tagged"


def made(
    backend: Backend,
    way: Mapping[str, Any],
    *,
    ranks: World | None = None,
    algorithm: str = "de",
    settings: Mapping[str, Any] | CellularSettings = CHANGED,
    asynchronous: bool = False,
) -> Archipelago:
    ranks = ranks or World()
    islands = one_colony(
        problem=facilities(N), algorithm=algorithm, encoding="keys",
        settings=DeSettings.build(settings) if isinstance(settings, Mapping) else settings,
        population=POPULATION, islands=ISLANDS, seed=SEED, migration=MigrationSettings.build(way),
        backend=backend, asynchronous=asynchronous, **in_teams(ranks, backend, ISLANDS),
    )  # fmt: skip
    islands.start()
    return islands


def reference_of(way: Mapping[str, Any]) -> NumpyMigration:
    defaults = {"migrants": 2, "selection": "best", "replacement": "worst", "duplicates": "accept"}
    return NumpyMigration(**{**defaults, "delay": 0, **way}, seed=SEED, fixed=1)


@pytest.mark.slow
@pytest.mark.parametrize("way", MIGRATIONS, ids=lambda way: way["topology"])
def test_jde_with_migration_equals_the_reference_bit_for_bit(
    backend: Backend, way: dict[str, Any]
) -> None:
    islands, migration = made(backend, way), reference_of(way)
    problem = facilities(N)
    reference = NumpyDe(
        N, problem.costs, DeSettings.build(CHANGED), assigns=problem.layout.assigns,
        population=POPULATION, islands=ISLANDS, seed=SEED,
    )  # fmt: skip
    for generations in (12, 1, 0, 15):
        islands.advance(generations)
        islands.migrate()
        reference.evolve(generations)
        reference.migrate(migration)
        saved = islands.snapshot()
        assert saved["cost"].tolist() == np.stack(reference.cost).tolist()
        assert np.array_equal(saved["genes"][:, :, :N], np.stack(reference.keys))
        rates = np.stack([saved["weight"], saved["crossover"]], axis=2)
        assert np.array_equal(rates, np.array(reference.rates, np.float32))
    assert len(np.unique(rates)) > 20


def tag(islands: Archipelago, generation: int) -> dict[str, NDArray[Any]]:
    """Give every individual random traits, and return the new state of all islands."""
    saved = islands.snapshot()
    drawn = np.random.default_rng(2)
    for name in TRAITS:
        saved[name] = drawn.integers(0, 250, saved[name].shape).astype(saved[name].dtype)
    saved["island"][:, 0] = generation
    islands.restore(saved, generation=generation, migrations=0)
    return saved


@pytest.mark.parametrize("generation", [6, 7])
@pytest.mark.parametrize("way", MIGRATIONS, ids=lambda way: way["topology"])
def test_all_fields_travel_and_replaced_individuals_are_marked(
    backend: Backend, way: dict[str, Any], generation: int, tagged: str
) -> None:
    islands, migration = made(backend, way, algorithm=tagged, settings={}), reference_of(way)
    expected = tag(islands, generation)
    traits = [expected[name] for name in TRAITS if name != "stays"]
    for _ in range(2):
        costs, keys = expected["cost"], expected["genes"].copy()
        before = [trait.copy() for trait in traits]
        found = migration.migrate(costs, keys, generation, traits=traits)
        islands._colonies[0].state.fill("changed")
        islands.migrate()
        saved = islands.snapshot()
        assert np.array_equal(saved["genes"], keys)
        for name in TRAITS:
            assert np.array_equal(saved[name], expected[name]), name
        replaced = np.any([(a != b).reshape(*a.shape[:2], -1).any(axis=2)
                           for a, b in zip(before, traits, strict=True)], axis=0)  # fmt: skip
        marks = backend.download(islands._colonies[0].state.arrays["changed"])
        assert (marks == 1)[replaced].all()
        assert np.array_equal(marks.sum(axis=1), [
            sum(each.accepted for each in found if each.target == island)
            for island in range(ISLANDS)
        ])  # fmt: skip
        expected["genes"] = keys
    assert "changed" not in saved


def test_padding_of_migrants_in_flight_is_zero_and_other_sizes_are_refused(
    backend: Backend, tagged: str
) -> None:
    way = MIGRATIONS[1]
    islands = made(backend, way, algorithm=tagged, settings={})
    tag(islands, 6)
    islands.migrate()
    rows = islands.snapshot()["emigrants"].reshape(2 * ISLANDS, -1)
    # Padding is saved and sent too, so it must always be the same.
    assert (rows[:, 16 + 4 * 16 + 3 : 96] == 0).all()
    plain = made(backend, way, settings={})
    plain.migrate()
    saved = islands.snapshot() | {"emigrants": plain.snapshot()["emigrants"]}
    with pytest.raises(InputError, match=r"emigrants has shape \(5, 160\) and type uint8, but"):
        islands.restore(saved, generation=6, migrations=1)


def test_a_field_that_travels_needs_an_entry_for_each_individual(
    monkeypatch: pytest.MonkeyPatch, tagged: str
) -> None:
    monkeypatch.setitem(TRAITS, "pairs", Field((2, POPULATION), np.int64, travels=True))
    with pytest.raises(UsageError, match=r"field pairs travels .* its shape is \(2, 30\)"):
        made(choose("cpu", 1), MIGRATIONS[0], algorithm=tagged, settings={})
