"""Tempering of knapsacks on all devices compared with plain Python, bit for bit."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy_core import NumpyCore
from numpy_islands import evolve_together
from numpy_mkp import unpacked
from numpy_tempering import assert_same_numbers, ladders
from problems_for_tests import knapsack
from programs_for_tests import for_gpu, parts, require_compiles, require_machine_code

import islands
from islands.algorithms.tempering import TemperingSettings
from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend, Block
from islands.instances.mkp import MkpFile
from islands.problems.mkp import Mkp


def _changed(n: int, m: int, change: Callable[[MkpFile], None]) -> Mkp:
    problem = knapsack(n, m)
    change(problem.file)
    return problem


def _no_weights(file: MkpFile) -> None:
    file.weights[:, :7] = 0
    file.weights[1] = 0


def _no_room(file: MkpFile) -> None:
    file.capacities[:] = 0
    file.weights[:, 3] = 0


def _room_for_all(file: MkpFile) -> None:
    file.capacities[:] *= 3


def _tight(file: MkpFile) -> None:
    """Two rows together require that chosen items weigh nearly exactly as much as allowed."""
    total = int(file.weights[0].sum())
    file.weights[1] = file.weights[0].max() - file.weights[0]
    file.capacities[:2] = total // 2, int(file.weights[1].sum()) // 2


PROBLEMS: dict[str, Callable[[], Mkp]] = {
    "usual": lambda: knapsack(150, 5),
    "one constraint": lambda: knapsack(130, 1),
    "many constraints": lambda: knapsack(120, 41),
    "few items": lambda: knapsack(3, 2),
    "one item": lambda: knapsack(1, 1),
    "large weights": lambda: knapsack(120, 6, largest=10**7),
    "huge weights": lambda: knapsack(120, 3, largest=1 << 45),
    "small weights": lambda: knapsack(120, 3, largest=3),
    "no weights": lambda: _changed(60, 3, _no_weights),
    "no room": lambda: _changed(20, 3, _no_room),
    "tight rows": lambda: _changed(120, 4, _tight),
    "everything fits": lambda: _changed(40, 2, _room_for_all),
}


def both(
    backend: Backend, problem: Mkp, given: tuple[Any, ...] = (), **settings: Any
) -> tuple[Archipelago, NumpyCore]:
    own = TemperingSettings.build({"rungs": 2, "proposals": 1500, "patience": 1, **settings})
    is_given = own.coldest > 0
    reference = NumpyCore(
        problem, islands=2, population=4, seed=5, rungs=own.rungs, proposals=own.proposals,
        patience=own.patience, tuning=0 if is_given else own.tuning, low=own.coldest or 0.001,
        high=own.hottest or 0.05, given=given,
    )  # fmt: skip
    mine = ladders(backend, problem, own, "bits", given=given)
    mine.start()
    return mine, reference


def assert_same(mine: Archipelago, reference: NumpyCore) -> None:
    saved = mine.snapshot()
    rows = assert_same_numbers(saved, reference, "cost", "energy")
    for name, states in {"genes": [r.best for r in rows], "state": [r.order for r in rows]}.items():
        found = unpacked(saved[name].reshape(len(rows), -1), reference.n)
        assert found.tolist() == states, name
    assert saved["variant"].tolist() == reference.variant


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROBLEMS)
def test_each_kind_of_knapsack_equals_the_reference(backend: Backend, kind: str) -> None:
    mine, reference = both(backend, PROBLEMS[kind](), tuning=3)
    evolve_together(mine, reference, 7, assert_same)
    if kind in ("usual", "many constraints", "large weights", "tight rows"):
        assert reference.kinds["accepted"] > 50
        assert reference.kinds["infeasible"] > 20
        assert reference.kinds["best"] > 0 or kind == "many constraints"
        assert reference.kinds["renewed"] > 0


@pytest.mark.slow
def test_given_solutions_and_temperatures_are_taken(backend: Backend) -> None:
    problem = knapsack(120, 4)
    best = islands.solve(problem, stop="generations=20", backend=backend.name, seed=3).solution
    mine, reference = both(backend, problem, (best,), coldest=0.01, hottest=0.03)
    assert reference.replicas[0][0].best == problem.layout.to_device(best).tolist()
    evolve_together(mine, reference, 4, assert_same)
    assert reference.kinds["exchanged"] > 0


@pytest.mark.slow
def test_an_improved_feasible_subset_is_always_taken(backend: Backend) -> None:
    mine, reference = both(backend, knapsack(120, 3), coldest=1e-6, hottest=2e-6, patience=0)
    evolve_together(mine, reference, 4, assert_same)
    assert reference.kinds["always taken"] > 0


@pytest.mark.slow
def test_weights_that_are_rounded_give_feasible_subsets_only(backend: Backend) -> None:
    # Items whose weights differ by less than what the device sees, and room for half of them.
    problem = knapsack(120, 2)
    problem.file.weights[:] += 10**7
    problem.file.capacities[:] = problem.file.weights.sum(axis=1) // 2
    mine, reference = both(backend, problem, tuning=3)
    assert max(problem.core.shifts) > 0
    mine.advance(8)
    reference.evolve(8)
    assert_same(mine, reference)
    for row in unpacked(mine.snapshot()["genes"].reshape(8, -1), 120):
        problem.check(problem.layout.from_device(row.astype(np.int64)))


@pytest.mark.gpu
@pytest.mark.parametrize("m", [1, 30, 140])
def test_kernels_compile_for_gpus(m: int) -> None:
    problem = knapsack(200, m)
    made = parts(problem, "tempering", "bits", {"rungs": 4})
    source = for_gpu("program.cuh", made.macros(), Block(32, 16))
    require_compiles(source)
    if m == 30:
        require_machine_code(source)


def test_knapsacks_with_too_many_constraints_or_penalties_have_no_core() -> None:
    assert knapsack(10, 513).core is None
    assert knapsack(10, 512).core is not None
    problem = knapsack(10, 3)
    assert problem.adjusted(replace(problem.settings, infeasible="drop")).core is None
