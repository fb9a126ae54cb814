"""Parallel tempering on all devices compared with plain Python, and with the exact distribution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_tempering import NumpyTempering
from problems_for_tests import facilities, flat, of_two_kinds, with_equals
from programs_for_tests import NEEDS_NVRTC, for_gpu, parts, require_compiles
from ranks_for_tests import on_ranks

import islands
from islands.algorithms.tempering import Tempering, TemperingSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend, Block
from islands.instances.qaplib import QapFile
from islands.migration import MigrationSettings
from islands.migration.transport import find
from islands.parallel import World
from islands.problems.qap import Qap
from islands.problems.qap_exchanges import mean_change

CHOICES: dict[str, Callable[[], Qap]] = {
    "symmetric": lambda: of_two_kinds(11, 4),
    "asymmetric": lambda: of_two_kinds(12, 5, symmetric="neither", linear=99),
    "turned": lambda: of_two_kinds(11, 7, symmetric="neither", turned=True),
    "one": lambda: of_two_kinds(9, 1),
    "all-but-one": lambda: of_two_kinds(19, 18),
    "two-runs": lambda: of_two_kinds(39, 20),
    "large": lambda: of_two_kinds(10, 3, largest=10**8),
}
COMPILED: dict[str, Callable[[], Qap]] = {
    "choice": lambda: of_two_kinds(90, 25),
    "choice-large": lambda: of_two_kinds(200, 100, largest=10**6, linear=10**8),
}
FIXED = {"coldest": 0.05, "hottest": 0.4}
PROBLEMS: dict[str, Callable[[int], Qap]] = {
    "symmetric": facilities,
    "diagonal": lambda n: facilities(n, symmetric="a", diagonal=True, largest=300),
    "general": lambda n: facilities(n, symmetric="neither", diagonal=True),
    "large": lambda n: facilities(n, symmetric="neither", diagonal=True, largest=10**7),
    "large-symmetric": lambda n: facilities(n, largest=10**7),
    "equals": lambda n: Qap(QapFile("equals", None, n, *with_equals(n))),
    "general-linear": lambda n: facilities(n, symmetric="neither", diagonal=True, linear=99),
}


def archipelago(
    backend: Backend,
    problem: Qap,
    *,
    population: int = 8,
    number: int = 2,
    seed: int = 5,
    given: tuple[list[int], ...] = (),
    world: World | None = None,
    way: dict[str, Any] | None = None,
    **settings: Any,
) -> Archipelago:
    ranks = world or World()
    return Archipelago(
        problem=problem,
        algorithm="tempering",
        encoding="permutation",
        settings=TemperingSettings.build({"rungs": 4, **settings}),
        population=population,
        islands=number,
        seed=seed,
        migration=MigrationSettings.build(way or {"topology": "none"}),
        backend=backend,
        world=ranks,
        transport=find(ranks, backend)[0] if ranks.size > 1 else None,
        warm_start=lambda: [np.array(order, np.int64) for order in given],
    )


def both(
    backend: Backend, problem: Qap, given: tuple[list[int], ...] = (), **settings: Any
) -> tuple[Archipelago, NumpyTempering]:
    """Return the same run on a device and in Python."""
    settings = {"sweeps": 6, "patience": 3, "population": 8, **settings}
    mine = archipelago(backend, problem, given=given, **settings)
    population = settings.pop("population")
    own = TemperingSettings.build({"rungs": 4, **settings})
    tempering = Tempering(own, population)
    tempering.prepare(problem)
    arrays = dict.fromkeys(_ARRAYS, None) | {"symmetries": np.zeros((1, 1))}
    plan = tempering.plan(arrays).members
    unit = mean_change(problem.file.a, problem.file.b, problem.file.linear)
    reference = NumpyTempering(
        problem, islands=2, population=population, seed=5, rungs=own.rungs, sweeps=own.sweeps,
        patience=own.patience, descent=own.descent, tuning=int(plan["tuning"]),
        low=float(plan["low"]), high=float(plan["high"]), unit=unit, reset=own.reset, given=given,
        renewed=range(int(plan["renewed_from"]), int(plan["renewed_to"])),
    )  # fmt: skip
    mine.start()
    return mine, reference


@pytest.fixture(params=["", "kept"])
def deltas(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep deltas between generations or not, which must not change a result."""
    if request.param:
        monkeypatch.setattr("islands.algorithms.tempering._KEPT_FROM", 1)


_ARRAYS = (
    *("unit", "sweep", "state", "energy", "held", "rung", "mate", "proposed", "accepted"),
    *("temperature", "pace", "heat", "activity", "records", "weights", "alone"),
)


def assert_same(mine: Archipelago, reference: NumpyTempering) -> None:
    saved, n = mine.snapshot(), reference.problem.size
    rows = [replica for rows in reference.replicas for replica in rows]
    for name, values in {
        "cost": [row.cost for row in rows],
        "energy": [row.energy for row in rows],
        "rung": [row.rung for row in rows],
        "mate": [row.mate for row in rows],
    }.items():
        assert saved[name].reshape(-1).tolist() == values, name
    assert saved["genes"][:, :, :n].reshape(-1, n).tolist() == [row.best for row in rows]
    assert saved["state"][:, :, :n].reshape(-1, n).tolist() == [row.order for row in rows]
    assert saved["calls"].tolist() == reference.calls
    paces = [pace for island in reference.pace for ladder in island for pace in ladder]
    assert saved["pace"].reshape(-1).tolist() == paces
    temperatures = [t for island in reference.temperature for ladder in island for t in ladder]
    assert saved["temperature"].reshape(-1).tolist() == temperatures


def assert_evolves(mine: Archipelago, reference: NumpyTempering, generations: int) -> None:
    assert_same(mine, reference)
    for _ in range(generations):
        mine.advance(1)
        reference.evolve(1)
        assert_same(mine, reference)


@pytest.mark.usefixtures("deltas")
@pytest.mark.parametrize("kind", PROBLEMS)
def test_each_matrix_type_equals_the_reference(backend: Backend, kind: str) -> None:
    mine, reference = both(backend, PROBLEMS[kind](9), **FIXED)
    assert_evolves(mine, reference, 12)
    assert reference.kinds["renewed"] > 0
    assert reference.kinds["exchanged"] > 0
    assert reference.kinds["kept"] > 0


@pytest.mark.parametrize("n", [2, 3, 4, 5, 18, 26])
def test_each_size_equals_the_reference(backend: Backend, n: int) -> None:
    assert_evolves(*both(backend, facilities(n), sweeps=3, **FIXED), 3)


def test_temperatures_are_set_as_in_the_reference(backend: Backend) -> None:
    mine, reference = both(backend, facilities(10), tuning=9, sweeps=8, population=4)
    assert_evolves(mine, reference, 12)
    first, last = reference.temperature[0][0][0], reference.temperature[0][0][-1]
    assert reference.low < first / reference.unit < last / reference.unit <= reference.high


def test_deltas_of_an_abandoned_generation_are_computed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("islands.algorithms.tempering._KEPT_FROM", 1)
    mine, whole = (archipelago(choose("cpu"), facilities(12), **FIXED) for _ in range(2))
    for each in (mine, whole):
        each.start()
        each.advance(2)
    mine.attempt(1)
    mine.withdraw()
    mine.advance(3)
    whole.advance(3)
    assert mine.digests() == whole.digests()


def test_many_facilities_have_exact_costs_on_any_number_of_ranks() -> None:
    problem = facilities(320, symmetric="neither", largest=10**5)

    def made(world: World) -> dict[str, np.ndarray]:
        mine = archipelago(choose("cpu"), problem, world=world, population=4, way=RING, sweeps=2)
        mine.start()
        mine.advance(2)
        mine.migrate()
        mine.advance(2)
        return mine.snapshot()

    whole = on_ranks(1, made)[0]
    parts_of = on_ranks(2, made)
    for name, array in whole.items():
        assert (np.concatenate([part[name] for part in parts_of]) == array).all(), name
    states = whole["state"].reshape(-1, problem.size)
    assert (problem.costs(states) == whole["energy"].reshape(-1)).all()
    assert (whole["accepted"] > 0).all()


def test_a_single_ladder_is_renewed_by_newcomers(backend: Backend) -> None:
    mine, reference = both(backend, facilities(7), population=4, **FIXED)
    assert_evolves(mine, reference, 10)
    assert reference.kinds["newcomer"] > 0


def test_islands_restart_and_begin_with_given_orders(backend: Backend) -> None:
    given = ([3, 1, 0, 2, 5, 4, 6], [0, 1, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 1, 0])
    mine, reference = both(backend, facilities(7), given=given, reset=4, patience=0, **FIXED)
    assert_evolves(mine, reference, 12)
    assert reference.kinds["newcomer"] > 0


def test_equal_facilities_and_locations_are_never_exchanged(backend: Backend) -> None:
    n = 20
    b, a = with_equals(n)
    mine, reference = both(backend, Qap(QapFile("alike", None, n, a, b)), sweeps=3, **FIXED)
    assert_evolves(mine, reference, 4)
    assert len(reference.pairs) < n * (n - 1) // 2
    assert reference.kinds["alike"] > 0


def test_a_subset_is_chosen_by_exchanges_with_the_others(backend: Backend) -> None:
    chosen = np.zeros((21, 21), np.int64)
    chosen[:6, :6] = 1
    problem = Qap(QapFile("grey", None, 21, chosen, facilities(21).file.b))
    mine, reference = both(backend, problem, tuning=5, sweeps=4)
    assert len(reference.pairs) == 6 * 15
    assert_evolves(mine, reference, 7)


@pytest.mark.parametrize("kind", CHOICES)
def test_choices_of_places_equal_the_reference(backend: Backend, kind: str) -> None:
    problem = CHOICES[kind]()
    assert problem.choice() is not None
    mine, reference = both(backend, problem, tuning=4, sweeps=5)
    assert_evolves(mine, reference, 9)
    assert reference.kinds["accepted"] > 0


def torus(rows: int, columns: int, chosen: int) -> Qap:
    """Return the choice of places on a torus, far from each other, of which some cost more."""
    places = np.array([divmod(p, columns) for p in range(rows * columns)])
    gaps = abs(places[:, np.newaxis] - places)
    gaps = np.minimum(gaps, np.array([rows, columns]) - gaps).sum(axis=-1)
    block = np.zeros_like(gaps)
    block[:chosen, :chosen] = 1
    return Qap(QapFile("torus", None, len(gaps), block, 100 // np.maximum(gaps, 1)))


@pytest.mark.parametrize("kind", ["torus", "asymmetric", "no-choice"])
def test_replicas_that_descend_equal_the_reference(backend: Backend, kind: str) -> None:
    problem = {"torus": lambda: torus(4, 5, 7), "no-choice": lambda: facilities(8), **CHOICES}[
        kind
    ]()
    way = FIXED | {"coldest": 0.3, "hottest": 0.8}
    mine, reference = both(backend, problem, descent=2, sweeps=3, **way)
    assert_evolves(mine, reference, 16)
    assert reference.kinds["renewed"] > 8
    assert reference.kinds["worse"] > 0
    assert (reference.kinds["moved"] > 0) == (kind == "torus")


def test_any_exchange_is_refused_if_all_facilities_are_equal(backend: Backend) -> None:
    mine = archipelago(backend, flat(6, 300), **FIXED)
    mine.start()
    before = mine.snapshot()["state"]
    mine.advance(3)
    assert (mine.snapshot()["state"] == before).all()


def test_states_have_the_distribution_of_boltzmann(backend: Backend) -> None:
    problem = facilities(4, largest=9)
    mine = archipelago(
        backend, problem, population=512, number=2, rungs=2, sweeps=4, patience=0,
        coldest=0.5, hottest=1.0,
    )  # fmt: skip
    mine.start()
    mine.advance(5)  # away from the start
    found: list[Counter[tuple[int, ...]]] = [Counter(), Counter()]
    for _ in range(40):
        mine.advance(2)
        saved = mine.snapshot()
        for order, rung in zip(saved["state"].reshape(-1, 4), saved["rung"].flat, strict=True):
            found[rung][tuple(order.tolist())] += 1
    orders = list(permutations(range(4)))
    costs = problem.costs(np.array(orders))
    unit = mean_change(problem.file.a, problem.file.b)
    for rung, temperature in enumerate((0.5 * unit, 1.0 * unit)):
        weights = np.exp(-costs / temperature)
        expected = weights / weights.sum()
        shares = np.array([found[rung][order] for order in orders]) / found[rung].total()
        assert np.abs(shares - expected).sum() < 0.06
        other = np.exp(-costs / (1.5 * unit - temperature))
        assert np.abs(shares - other / other.sum()).sum() > 0.1


@pytest.mark.usefixtures("deltas")
def test_an_immigrant_becomes_the_state_of_its_replica(backend: Backend) -> None:
    problem = facilities(12)
    way = {"topology": "ring", "migrants": 1}
    mine = archipelago(backend, problem, number=2, way=way, sweeps=2, **FIXED)
    mine.start()
    mine.advance(3)
    before = mine.snapshot()
    mine.migrate()
    after = mine.snapshot()
    for island in range(2):
        best = before["cost"][1 - island].argmin()
        worst = before["order"][island][-1]
        assert before["cost"][island][worst] > before["cost"][1 - island][best]
        assert (after["state"][island][worst] == before["genes"][1 - island][best]).all()
        assert after["energy"][island][worst] == before["cost"][1 - island][best]
        others = np.arange(8) != worst
        assert (after["state"][island][others] == before["state"][island][others]).all()
        for ladder in (slice(0, 4), slice(4, 8)):
            assert sorted(after["rung"][island][ladder]) == [0, 1, 2, 3]
    mine.advance(2)
    saved = mine.snapshot()
    assert (problem.costs(saved["state"].reshape(-1, 12)) == saved["energy"].reshape(-1)).all()
    assert (problem.costs(saved["genes"].reshape(-1, 12)) == saved["cost"].reshape(-1)).all()


RING = {"topology": "ring", "migrants": 2, "delay": 1}


def _run(
    world: World, migrations: int, saved: dict[str, Any] | None = None, *, chooses: bool = False
) -> dict[str, np.ndarray]:
    problem = torus(4, 6, 9) if chooses else facilities(11)
    mine = archipelago(
        choose("cpu"), problem, number=6, world=world, way=RING, sweeps=4, patience=5,
        tuning=6, descent=int(chooses), reset=8 if chooses else 0,
    )  # fmt: skip
    if saved is None:
        mine.start()
    else:
        own = {name: array[list(mine.mine)] for name, array in saved.items()}
        mine.restore(own, generation=9, migrations=3)
    for _ in range(migrations):
        mine.advance(3)
        mine.migrate()
    return mine.snapshot()


@pytest.mark.usefixtures("deltas")
@pytest.mark.parametrize("chooses", [False, True])
def test_any_number_of_ranks_and_a_resumed_run_give_the_same_bits(chooses: bool) -> None:
    run = partial(_run, chooses=chooses)
    whole = on_ranks(1, lambda world: run(world, 7))[0]
    parts_of = on_ranks(3, lambda world: run(world, 7))
    saved = on_ranks(2, lambda world: run(world, 3))
    joined = {name: np.concatenate([part[name] for part in saved]) for name in saved[0]}
    resumed = on_ranks(2, lambda world: run(world, 4, joined))
    for name, array in whole.items():
        assert (np.concatenate([part[name] for part in parts_of]) == array).all(), name
        assert (np.concatenate([part[name] for part in resumed]) == array).all(), name


@pytest.mark.parametrize("name", ["nug12", "tai12a", "chr12a", "esc16a", "bur26a", "nug20"])
def test_published_optima_are_found(name: str, published: Path) -> None:
    if not (published / "qaplib" / f"{name}.dat").exists():
        pytest.skip(f"{name} is not there")
    result = islands.solve(
        f"qaplib/{name}", algorithm="tempering", backend="cpu", islands=2, population=16,
        stop="best-known", generations=400,
    )  # fmt: skip
    assert result.gap == 0


@NEEDS_NVRTC
@pytest.mark.parametrize(
    ("kind", "block", "more"),
    [
        ("symmetric", Block(384, 4), {}),
        ("general", Block(32, 8), {}),
        ("large", Block(1024, 1, 1 << 20), {}),
        ("equals", Block(64, 2), {}),
        ("general-linear", Block(256), {}),
        ("symmetric", Block(32), {"ISLANDS_ROOM": "1"}),
        ("choice", Block(64, 16), {}),
        ("choice-large", Block(512, 3), {}),
        ("choice-large", Block(32), {"ISLANDS_ROOM": "1"}),
    ],
    ids=str,
)
def test_programs_compile_for_gpus(kind: str, block: Block, more: dict[str, str]) -> None:
    problem = COMPILED[kind]() if kind in COMPILED else PROBLEMS[kind](40)
    of_parts = parts(problem, "tempering", "permutation", {"rungs": 5})
    require_compiles(for_gpu("program.cuh", of_parts.macros() | more, block))
