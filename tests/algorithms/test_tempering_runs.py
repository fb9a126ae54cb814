"""Runs of parallel tempering: the exact distribution, migrants, ranks, optima, and GPUs."""

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from numpy_tempering import FIXED, PROBLEMS, RING, archipelago
from problems_for_tests import facilities, of_two_kinds
from programs_for_tests import for_gpu, parts, require_machine_code

import islands
from islands.backends import choose
from islands.backends.base import Backend, Block
from islands.instances.grids import grid
from islands.parallel import World
from islands.problems.qap import Qap
from islands.problems.qap_exchanges import mean_change
from islands.testing.ranks import on_ranks

COMPILED: dict[str, Callable[[], Qap]] = {
    "sparse": lambda: Qap(grid(8, 10, hidden=2).file()),
    "choice": lambda: of_two_kinds(90, 25),
    "choice-large": lambda: of_two_kinds(200, 100, largest=10**6, linear=10**8),
}


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.usefixtures("optimised")
def test_many_facilities_have_exact_costs_on_any_number_of_ranks() -> None:
    problem = facilities(320, symmetric="neither", largest=10**5)

    def made(world: World) -> dict[str, np.ndarray]:
        mine = archipelago(choose("cpu"), problem, world=world, population=4, way=RING, sweeps=60)
        mine.start()
        mine.advance(2)
        mine.migrate()
        before = mine.snapshot()["state"]
        mine.advance(2)
        assert (mine.snapshot()["state"] != before).any(axis=-1).all()
        return mine.snapshot()

    whole = on_ranks(1, made)[0]
    parts_of = on_ranks(2, made)
    for name, array in whole.items():
        assert (np.concatenate([part[name] for part in parts_of]) == array).all(), name
    states = whole["state"].reshape(-1, problem.size)
    assert (problem.costs(states) == whole["energy"].reshape(-1)).all()


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


@pytest.mark.slow
@pytest.mark.usefixtures("optimised")
@pytest.mark.parametrize("name", ["nug12", "tai12a", "chr12a", "esc16a", "bur26a", "nug20"])
def test_published_optima_are_found(name: str, published: Path) -> None:
    assert (published / "qaplib" / f"{name}.dat").exists()
    result = islands.solve(
        f"qaplib/{name}", algorithm="tempering", backend="cpu", islands=2, population=16,
        stop="best-known", generations=400,
    )  # fmt: skip
    assert result.gap == 0


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("kind", "block", "more"),
    [
        ("symmetric", Block(384, 4), {}),
        ("general", Block(32, 8), {}),
        ("large", Block(1024, 1, 1 << 20), {}),
        ("equals", Block(64, 2), {}),
        ("general-linear", Block(256), {}),
        ("symmetric", Block(32), {"ISLANDS_ROOM": "1"}),
        ("sparse", Block(128, 4), {}),
        ("choice", Block(64, 16), {}),
        ("choice-large", Block(512, 3), {}),
        ("choice-large", Block(32), {"ISLANDS_ROOM": "1"}),
    ],
    ids=str,
)
def test_programs_compile_for_gpus(kind: str, block: Block, more: dict[str, str]) -> None:
    problem = COMPILED[kind]() if kind in COMPILED else PROBLEMS[kind](40)
    of_parts = parts(problem, "tempering", "permutation", {"rungs": 5})
    source = for_gpu("program.cuh", of_parts.macros() | more, block)
    require_machine_code(source)
