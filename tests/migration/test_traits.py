"""Fields that travel: an individual takes them to other islands, and the halo to other ranks."""

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
from islands.algorithms.cellular import Cellular, CellularSettings
from islands.algorithms.de import De, DeSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.backends.state import Field
from islands.errors import InputError, UsageError
from islands.migration import Migrant, MigrantLayout, MigrationSettings
from islands.parallel import World
from islands.testing.ranks import on_ranks

N, POPULATION, ISLANDS, SEED = 13, 30, 5, 4
CHANGED = {"adaptation": "jde", "F": 0.5, "Cr": 0.6}
MIGRATIONS = [
    {"topology": "elite", "migrants": 1},
    {"topology": "ring", "delay": 1, "selection": "random", "replacement": "random"},
    {"topology": "random", "selection": "roulette", "replacement": "if-better"},
    {"topology": "torus", "delay": 1, "duplicates": "reject"},
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
        backend=backend, ranks=in_teams(ranks, backend, ISLANDS, asynchronous=asynchronous),
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


def test_padding_of_migrants_in_flight_is_zero_and_other_sizes_are_rejected(
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


class TaggedCellular(Cellular):
    """The cellular algorithm with fields that its kernels do not use."""

    def fields(self, shape: Shape) -> dict[str, Field]:
        return super().fields(shape) | TRAITS


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 12])
def test_all_ranks_of_a_team_read_the_ends_of_the_same_neighbours(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ALGORITHMS, "tagged", TaggedCellular)
    reach = 2

    def drawn(island: int, name: str, like: NDArray[Any]) -> NDArray[Any]:
        of = np.random.default_rng([island, *name.encode()])
        return of.integers(0, 250, like.shape[1:]).astype(like.dtype)

    def one(ranks: World) -> tuple[range, NDArray[np.uint8], Migrant]:
        islands = made(
            choose("cpu", 1), {"topology": "none"}, ranks=ranks, algorithm="tagged",
            settings=CellularSettings(halo=True, neighbours=2 * reach),
        )  # fmt: skip
        (colony,) = islands._colonies
        saved = colony.snapshot(0, is_copied=True)
        for name in TRAITS:
            rows = [drawn(island, name, saved[name]) for island in islands.held]
            saved[name] = np.stack(rows)
        islands.restore(saved, generation=0, migrations=0)
        islands.renew_halo()
        return islands.held, islands.backend.download(colony.halo.adjacent), colony.migrant

    for held, seen, migrant in on_ranks(size, one):
        for name, offset in migrant.offsets.items():
            like = np.zeros((1, *TRAITS[name].shape), TRAITS[name].dtype)
            near = held.start - 1, held.stop
            before, after = (drawn(island % ISLANDS, name, like) for island in near)
            place = slice(offset, offset + TRAITS[name].entry_bytes)
            carried = seen.reshape(2 * reach, migrant.bytes)[:, place]
            assert carried.tobytes() == before[-reach:].tobytes() + after[:reach].tobytes()


GENES = {"genes": Field((8, 12), np.float32)}
RATE = Field((8,), np.float32, travels=True)
PAIR = Field((8, 2), np.float64, travels=True)


def test_one_colony_has_the_layout_of_its_own_fields() -> None:
    fields = {**GENES, "rate": RATE, "pair": PAIR}
    alone = Migrant(fields)
    assert (alone.genes, alone.bytes) == (slice(16, 64), 96)
    assert alone.offsets == {"rate": 64, "pair": 80}
    shared = Migrant(fields, "de", MigrantLayout([("de", fields)]))
    assert (shared.genes, shared.bytes, shared.offsets) == (alone.genes, 96, alone.offsets)


def test_fields_of_one_algorithm_share_a_place() -> None:
    wide = {"genes": Field((4, 40), np.float32), "rate": Field((4,), np.float32, travels=True)}
    colonies = [("de", {**GENES, "rate": RATE}), ("de", wide), ("own", {**GENES, "rate": PAIR})]
    layout = MigrantLayout(colonies)
    migrants = [Migrant(fields, owner, layout) for owner, fields in colonies]
    assert [each.genes for each in migrants] == [slice(16, 64), slice(16, 176), slice(16, 64)]
    assert [each.offsets for each in migrants] == [{"rate": 176}, {"rate": 176}, {"rate": 192}]
    assert {each.bytes for each in migrants} == {208}
    array = np.zeros(1)
    bits = [each.traits({"rate": array})[0].members["bit"] for each in migrants]
    assert bits == [0, 0, 1]


def test_more_fields_than_a_migrant_can_mark_are_rejected() -> None:
    fields = {**GENES, **{f"f{i}": RATE for i in range(64)}}
    with pytest.raises(UsageError, match="64 fields travel with migrants, but at most 63 may"):
        MigrantLayout([("own", fields)])
