"""Islands with parallel tempering on a device, and the same in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy_tempering import NumpyTempering
from one_colony import one_colony
from problems_for_tests import facilities, with_equals

from islands.algorithms.base import Shape
from islands.algorithms.tempering import Tempering, TemperingSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.instances.qaplib import QapFile
from islands.migration import MigrationSettings
from islands.migration.transport import find
from islands.parallel import World
from islands.problems.qap import Qap
from islands.problems.qap_exchanges import mean_change

FIXED = {"coldest": 0.05, "hottest": 0.4}
RING = {"topology": "ring", "migrants": 2, "delay": 1}
PROBLEMS: dict[str, Callable[[int], Qap]] = {
    "symmetric": facilities,
    "diagonal": lambda n: facilities(n, symmetric="a", diagonal=True, largest=300),
    "general": lambda n: facilities(n, symmetric="neither", diagonal=True),
    "large": lambda n: facilities(n, symmetric="neither", diagonal=True, largest=10**7),
    "large-symmetric": lambda n: facilities(n, largest=10**7),
    "equals": lambda n: Qap(QapFile("equals", None, n, *with_equals(n))),
    "general-linear": lambda n: facilities(n, symmetric="neither", diagonal=True, linear=99),
}
_ARRAYS = (
    *("unit", "state", "energy", "held", "rung", "mate", "temperature", "heat", "records"),
    *("weights", "alone"),
)


def torus(rows: int, columns: int, chosen: int) -> Qap:
    """Return the choice of places on a torus, far from each other, of which some cost more."""
    places = np.array([divmod(p, columns) for p in range(rows * columns)])
    gaps = abs(places[:, np.newaxis] - places)
    gaps = np.minimum(gaps, np.array([rows, columns]) - gaps).sum(axis=-1)
    block = np.zeros_like(gaps)
    block[:chosen, :chosen] = 1
    return Qap(QapFile("torus", None, len(gaps), block, 100 // np.maximum(gaps, 1)))


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
    return one_colony(
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
    tempering.prepare(problem, Shape(2, population, problem.size, np.dtype(np.int32)))
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
    temperatures = [t for island in reference.temperature for ladder in island for t in ladder]
    assert saved["temperature"].reshape(-1).tolist() == temperatures


def assert_evolves(mine: Archipelago, reference: NumpyTempering, generations: int) -> None:
    assert_same(mine, reference)
    for _ in range(generations):
        mine.advance(1)
        reference.evolve(1)
        assert_same(mine, reference)
