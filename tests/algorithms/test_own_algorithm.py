"""An algorithm of a script, with all optional methods, compared with NumPy."""

import dataclasses
from functools import partialmethod
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import copies, in_teams, one_colony
from numpy.typing import NDArray
from numpy_islands import START, words
from numpy_migration import NumpyMigration
from numpy_operators import random_genome
from problems_for_tests import cities
from user_algorithm import Threshold, ThresholdSettings, neighbours

from islands.algorithms import ALGORITHMS
from islands.algorithms.base import Launch
from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.arguments import Struct
from islands.backends.base import Backend
from islands.backends.state import Field
from islands.errors import IslandsError
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.base import Problem
from islands.testing.ranks import on_ranks

N, POPULATION, ISLANDS, SEED = 21, 12, 4, 9
OWN = 128
WAY: dict[str, Any] = {"topology": "ring", "migrants": 3}


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ALGORITHMS, "threshold", Threshold)


def made(
    backend: Backend, problem: Problem, ranks: World | None = None, decoding: str = "", **way: Any
) -> Archipelago:
    ranks = ranks or World()
    return one_colony(
        problem=problem, algorithm="threshold", encoding="permutation",
        settings=ThresholdSettings(), population=POPULATION, islands=ISLANDS, seed=SEED,
        migration=MigrationSettings.build({**WAY, **way}), backend=backend, decoding=decoding,
        ranks=in_teams(ranks, backend, ISLANDS),
    )  # fmt: skip


class NumpyThreshold:
    """The same search in NumPy, for one individual after another."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.near = problem, neighbours(problem, 5)
        places = [[(SEED, k, 0, slot) for slot in range(POPULATION)] for k in range(ISLANDS)]
        self.genes = np.array(
            [[random_genome(N, "permutation", START, each) for each in row] for row in places]
        )
        self.cost = self.costs()
        self.threshold = self.cost // 16
        self.generation = 0

    def costs(self) -> NDArray[np.int64]:
        flat = self.problem.costs(self.genes.reshape(-1, N).astype(np.int64))
        return flat.reshape(ISLANDS, POPULATION)

    def evolve(self, generations: int) -> None:
        for _ in range(generations):
            self.generation += 1
            for island, slot in np.ndindex(ISLANDS, POPULATION):
                self.move(island, slot)
            self.threshold -= self.threshold // 16

    def move(self, island: int, slot: int) -> None:
        tour = self.genes[island, slot]
        word = [int(each) for each in words(2, OWN, SEED, island, self.generation, slot)]
        city = word[0] * N >> 32
        pair = [int(np.flatnonzero(tour == each)[0])
                for each in (city, self.near[city, word[1] * 5 >> 32])]  # fmt: skip
        moved = tour.copy()
        moved[pair] = moved[pair[::-1]]
        cost = int(self.problem.costs(moved[np.newaxis].astype(np.int64))[0])
        if cost - self.cost[island, slot] <= self.threshold[island, slot]:
            self.genes[island, slot], self.cost[island, slot] = moved, cost


def assert_same(saved: dict[str, NDArray[Any]], reference: NumpyThreshold) -> None:
    assert np.array_equal(saved["genes"][..., :N], reference.genes)
    assert np.array_equal(saved["cost"], reference.cost)
    assert np.array_equal(saved["threshold"], reference.threshold)


def test_own_algorithm_with_migration_equals_the_reference(backend: Backend) -> None:
    problem = cities(N)
    mine, reference = made(backend, problem), NumpyThreshold(problem)
    migration = NumpyMigration(
        topology="ring", migrants=3, selection="best", replacement="worst", duplicates="accept",
        delay=0, seed=SEED, fixed=1,
    )  # fmt: skip
    mine.start()
    assert_same(mine.snapshot(), reference)
    for generations in (7, 8, 5):
        mine.advance(generations)
        reference.evolve(generations)
        assert_same(mine.snapshot(), reference)
        mine.migrate()
        before = reference.threshold.copy()
        migration.migrate(
            reference.cost, reference.genes, reference.generation, traits=[reference.threshold]
        )
        assert (before != reference.threshold).any()
        assert_same(mine.snapshot(), reference)
    assert (reference.cost == reference.costs()).all()
    best = mine.best()
    assert best.cost == problem.cost(best.solution)


def test_derived_and_scratch_fields_are_restored_but_not_saved(backend: Backend) -> None:
    problem = cities(N)
    straight, killed = made(backend, problem), made(backend, problem)
    straight.start()
    straight.advance(6)
    straight.migrate()
    saved = straight.snapshot()
    assert not {"position", "proposal", "delta", "changed"} & set(saved)
    assert "threshold" in saved
    killed.restore(saved, generation=6, migrations=straight.migrations)
    for islands in (straight, killed):
        islands.advance(9)
        islands.migrate()
        islands.advance(4)
    assert killed.digests() == straight.digests()


def test_any_number_of_ranks_gives_the_same_run() -> None:
    problem = cities(N)

    def run(ranks: World) -> tuple[list[tuple[int, str]], bool, set[int]]:
        islands = made(choose("cpu", 1), problem, ranks, delay=1)
        islands.start()
        for _ in range(3):
            islands.advance(5)
            islands.migrate()
        islands.advance(2)
        generations = {int(each["island"][0]) for each in copies(islands).values()}
        return islands.digests(), islands.is_idle, generations

    alone = run(World())
    for size in (2, 3, 6):
        found = on_ranks(size, run)
        assert sorted(pair for rank in found for pair in rank[0]) == alone[0]
        # An algorithm with its own kernels is not divided: some ranks are idle.
        assert [each[1] for each in found] == [not each[0] for each in found]
        assert all(each[2] == ({0} if each[1] else {17}) for each in found)


def taking(self: Any, arrays: Any, plan: Any = Threshold.plan, **changed: Any) -> Struct:
    members = plan(self, arrays).members | changed
    return Struct(**{name: value for name, value in members.items() if value is not ...})


def swapped(self: Any, arrays: Any, plan: Any = Threshold.plan) -> Struct:
    """Return a plan in which two pointers to the same type have changed places."""
    members = plan(self, arrays).members
    *others, threshold, proposal, delta = members
    return Struct(**{name: members[name] for name in (*others, delta, proposal, threshold)})


def launching(**steps: Any) -> Any:
    """Return an algorithm with a changed schedule."""
    usual = Threshold.schedule
    return lambda *of, **how: dataclasses.replace(usual(*of, **how), **steps)


NEAR = np.zeros((N, 5), np.int32)
WRONG: list[tuple[str, Any, str]] = [
    ("plan", partialmethod(taking, delta=...), "algorithm::Plan: Python passes 40 bytes. "),
    ("plan", swapped, "algorithm::Plan::delta: Python passes an array of int64 at byte 24"),
    (
        *("tables", lambda *_: {"neighbours": NEAR.astype(np.int64)}),
        "algorithm::Plan::neighbours: Python passes an array of int64 at byte 8",
    ),
    ("plan", partialmethod(taking, near=5), r"Struct: near=5 has no size .*near=numpy.int32\(5"),
    ("tables", lambda *_: {"neighbours": NEAR, "delta": NEAR}, "the table delta has the name of a"),
    ("tables", lambda *_: {"neighbours": [[1]]}, "the table neighbours has the type list"),
    ("fields", lambda *_: {"delta": Field(POPULATION, np.int64)}, r"shape=12: .* Write \(12,\)"),  # type: ignore[arg-type]
    ("fields", lambda *_: {"order": Field((9, 2), np.int32)}, "the field order has the name of a"),
    (
        *("schedule", launching(adopt=(Launch("k", 1, plan=(("near", np.int64(5)),)),))),
        r"Launch\('k'\): plan=.*near.* must replace members of algorithm::Plan",
    ),
    ("schedule", launching(start=()), r"Schedule: start=\(\): must be a tuple of launches"),
    ("schedule", launching(generation=Launch("k", 1)), "Schedule: generation=Launch"),
    ("schedule", launching(adopt=(Launch("k", 1),)), "the program has no kernel 'k'. Write"),
]


@pytest.mark.parametrize(("member", "wrong", "message"), WRONG)
def test_contradictions_of_python_and_kernels_are_rejected(
    monkeypatch: pytest.MonkeyPatch, member: str, wrong: Any, message: str
) -> None:
    monkeypatch.setattr(Threshold, member, wrong)
    with pytest.raises(IslandsError, match=message):
        made(choose("cpu", 1), cities(N))
