"""Colonies of one archipelago evolve as runs of their own, and are saved and restored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import KEYS, ORDERS, evolved, made, require_exact, spec_of
from problems_for_tests import cities, facilities

from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import InputError
from islands.parallel import World
from islands.run.build import islands_of


@pytest.mark.parametrize(
    "migration",
    [
        {},
        {"migration.delay": 1, "migration.duplicates": "refuse"},
        {"migration.replacement": "random", "migration.selection": "roulette"},
        {"migration.replacement": "if-better", "migration.selection": "random"},
    ],
)
def test_equal_colonies_give_the_digests_of_a_run_without_colonies(
    backend: Backend, migration: dict[str, Any]
) -> None:
    problem = facilities(9)
    same = "algorithm=de population=12 adaptation=jde"
    parts = made(problem, f"islands=2 {same}", f"islands=3 {same}", backend=backend, **migration)
    whole = made(
        problem, backend=backend, islands=5, algorithm="de", population=12, adaptation="jde",
        **migration,
    )  # fmt: skip
    assert evolved(parts).digests() == evolved(whole).digests()
    assert [each.best for each in parts.measure()] == [each.best for each in whole.measure()]


def test_colonies_that_do_not_migrate_are_runs_of_their_own(backend: Backend) -> None:
    problem = facilities(9)
    both = made(problem, KEYS, ORDERS, backend=backend, migration="none")
    alone = made(
        problem, backend=backend, islands=2, algorithm="brkga", population=20, elite=0.2,
        mutants=0.2, migration="none",
    )  # fmt: skip
    assert evolved(both).digests()[:2] == evolved(alone).digests()


@pytest.mark.parametrize("rate", [2, 3])
def test_a_rate_means_that_many_generations_for_one_of_the_run(backend: Backend, rate: int) -> None:
    problem = facilities(9)
    fast = made(problem, KEYS, f"{ORDERS} rate={rate}", backend=backend, migration="none")
    slow = made(problem, KEYS, ORDERS, backend=backend, migration="none")
    fast.start()
    slow.start()
    fast.advance(4)
    fast.advance(1)
    slow.advance(5 * rate)
    assert fast.generation == 5
    assert fast.digests()[2:] == slow.digests()[2:]
    for quick, plain in zip(fast.measure()[2:], slow.measure()[2:], strict=True):
        assert quick.best == plain.best
        assert (plain.best_generation + rate - 1) // rate == quick.best_generation
        assert (quick.colony, quick.evaluations) == (1, plain.evaluations)


@pytest.mark.parametrize("delay", [0, 1])
def test_a_snapshot_continues_with_the_same_digests(backend: Backend, delay: int) -> None:
    problem = facilities(9)
    colonies = (KEYS, f"{ORDERS} rate=2")
    options = {"backend": backend, "migration.delay": delay}
    first = evolved(made(problem, *colonies, **options))
    first.advance(1)
    second = made(problem, *colonies, **options)
    second.restore(first.snapshot(), generation=first.generation, migrations=first.migrations)
    for islands in (first, second):
        islands.advance(2)
        islands.migrate()
        islands.advance(2)
    assert first.digests() == second.digests()
    assert first.covered("0.genes") == range(2)
    assert first.covered("1.genes") == first.covered("1.cost") == range(2, 5)
    assert first.covered("emigrants") == range(5)


@pytest.mark.parametrize("name", ["genes", "2.genes", "x.genes"])
def test_arrays_of_unknown_colonies_are_refused(name: str) -> None:
    islands = evolved(made(facilities(9), KEYS, ORDERS))
    saved = islands.snapshot()
    saved[name] = saved.pop("1.genes")
    with pytest.raises(InputError, match=f"the saved array {name} belongs to none of 2 colonies"):
        islands.restore(saved, generation=islands.generation, migrations=islands.migrations)


def test_the_generations_of_all_colonies_are_undone(backend: Backend) -> None:
    # On a GPU, only some searches check for the request; tabu does so when it begins.
    def started() -> Archipelago:
        tabu: dict[str, Any] = {"improver": "tabu", "improver.steps": 3, "improver.rate": 1}
        return evolved(made(facilities(9), KEYS, f"{ORDERS} rate=2", backend=backend, **tabu))

    islands = started()
    before = islands.digests()
    islands.abandon()
    assert not islands.attempt(3)
    islands.undo()
    assert islands.digests() == before
    assert islands.attempt(3)
    assert islands.digests() != before
    undisturbed = started()
    undisturbed.advance(3)
    assert islands.generation == undisturbed.generation
    assert islands.digests() == undisturbed.digests()


def test_a_request_that_one_colony_obeys_is_over_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    islands = evolved(made(facilities(9), KEYS, ORDERS))
    before, last = islands.digests(), islands._colonies[1]
    # The first colony abandons its generations; the request arrives too late for the other one.
    islands._colonies[0].attempt.halt.request()
    whole = last.attempt.is_whole

    def is_whole() -> bool:
        found = whole()
        last.attempt.halt.request()
        return found

    monkeypatch.setattr(last.attempt, "is_whole", is_whole)
    assert not islands.attempt(2)
    monkeypatch.undo()
    islands.undo()
    assert islands.digests() == before
    assert islands.attempt(2)


def test_solutions_are_injected_into_all_colonies(backend: Backend) -> None:
    problem = facilities(9)
    islands = evolved(made(problem, KEYS, ORDERS, backend=backend, migration="none"))
    best = islands.elite(1)[0]
    islands.inject([best.solution] * 5, 3)
    assert {each.island for each in islands.elite(1000) if each.cost == best.cost} >= {*range(5)}
    assert require_exact(islands, problem) == 2 * 20 + 3 * 16
    assert [len(each) for each in islands.populations()] == [20, 20, 16, 16, 16]


def test_solutions_of_a_warm_start_are_dealt_to_all_colonies(tmp_path: Path) -> None:
    problem = cities(9, tmp_path)
    orders = [np.random.default_rng(seed).permutation(9) for seed in range(5)]
    spec = spec_of(problem, KEYS, ORDERS)
    islands = islands_of(spec, problem, World(), choose("cpu", 1), warm_start=lambda: orders)
    islands.start()
    require_exact(islands, problem)
    saved = islands.snapshot()
    for island, order in enumerate(orders):
        number, first = (0, 0) if island < 2 else (1, 2)
        genome = saved[f"{number}.genes"][island - first, :1]
        assert islands._encodings[number].decode(genome)[0].tolist() == order.tolist()
