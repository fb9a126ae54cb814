"""The genetic algorithm on all devices compared with a NumPy reference, bit for bit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from colonies_for_tests import one_colony
from numpy_ga import DANTAS, assert_evolves, assert_same, both, genomes
from problems_for_tests import NUMBERS, cities, facilities, flat, knapsack
from test_operators import Wanted

from islands.algorithms.ga import GaSettings
from islands.backends import choose
from islands.backends.base import Backend
from islands.instances.qaplib import QapFile
from islands.migration import MigrationSettings
from islands.parallel import World
from islands.problems.mkp import WAYS, MkpSettings
from islands.problems.qap import Qap


@pytest.mark.parametrize("n", [1, 2, 31, 33, 200])
@pytest.mark.parametrize("changes", [DANTAS, {}], ids=["generational", "steady"])
def test_subsets_equal_the_reference(backend: Backend, n: int, changes: dict[str, Any]) -> None:
    assert_evolves(*both(backend, Wanted(n), **changes))


@pytest.mark.parametrize("infeasible", WAYS)
@pytest.mark.parametrize("changes", [DANTAS, {}], ids=["generational", "steady"])
def test_knapsacks_equal_the_reference(
    backend: Backend, infeasible: str, changes: dict[str, Any]
) -> None:
    problem = knapsack(40, 5).adjusted(MkpSettings(infeasible=infeasible, penalty=0.7))
    mine, reference = both(backend, problem, **changes)
    if problem.scale.marks:
        assert {cost % 2 for island in reference.cost for cost in island} == {0, 1}
    assert_evolves(mine, reference)


@pytest.mark.parametrize("n", [1, 2, 5, 26])
@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("replacement", ["generational", "steady"])
def test_numbers_equal_the_reference(backend: Backend, n: int, kind: str, replacement: str) -> None:
    problem = NUMBERS[kind](n)
    for changes in ({}, {"crossover": "blend", "mutation": "gaussian", "reset": 2}):
        mine, reference = both(backend, problem, kind, replacement=replacement, **changes)
        assert_evolves(mine, reference)
        assert mine._encodings[0].holds(np.array(reference.genomes).reshape(-1, n))


@pytest.mark.parametrize("n", [1, 2, 5, 26])
@pytest.mark.parametrize("encoding", ["permutation", "keys"])
@pytest.mark.parametrize("replacement", ["generational", "steady"])
def test_orders_equal_the_reference(
    backend: Backend, n: int, encoding: str, replacement: str, tmp_path: Path
) -> None:
    assert_evolves(*both(backend, cities(n, tmp_path), encoding, replacement=replacement))
    assert_evolves(*both(backend, facilities(n), encoding, replacement=replacement))


@pytest.mark.parametrize(
    "selection",
    [
        {"selection": "best"},
        {"selection": "random"},
        {"selection": "proportional"},
        {"tournament": 1},
        {"tournament": 5},
        {"tournament": 1000},
    ],
    ids=str,
)
@pytest.mark.parametrize("replacement", ["generational", "steady"])
@pytest.mark.parametrize("population", [2, 3, 13])
def test_each_selection_equals_the_reference(
    backend: Backend, selection: dict[str, Any], replacement: str, population: int
) -> None:
    changes = {"population": population, "replacement": replacement, **selection}
    assert_evolves(*both(backend, Wanted(40), **changes), 3)


@pytest.mark.parametrize("cost", [0, 720])
def test_equal_parents_are_equally_likely(backend: Backend, cost: int) -> None:
    changes = {"selection": "proportional", "replacement": "generational", "mutation_rate": 0}
    mine, reference = both(backend, flat(9, cost), "permutation", **changes, population=10)
    ranked = [(genome, cost) for genome in reference.genomes[0]]
    drawn = Counter(
        reference.genomes[0].index(mate)
        for individual in range(500)
        for mate in reference.mates((1, 0, 1, individual), ranked, list(range(10)))
    )
    assert all(60 < drawn[slot] < 140 for slot in range(10))
    assert_evolves(mine, reference, 3)


@pytest.mark.parametrize("elite", [0, 1, 4, 11])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0, 1), (1, 0)])
@pytest.mark.parametrize("strength", [1, 3])
def test_generational_replacement_with_elite_equals_the_reference(
    backend: Backend, elite: int, rates: tuple[float, float], strength: int
) -> None:
    mine, reference = both(
        backend, Wanted(50), replacement="generational", elite=elite, strength=strength,
        crossover_rate=rates[0], mutation_rate=rates[1],
    )  # fmt: skip
    assert_evolves(mine, reference)
    if elite:
        assert [min(cost) for cost in reference.cost] == reference.ever


def test_pairs_of_children_are_crossed_from_the_two_best(backend: Backend) -> None:
    mine, _ = both(backend, Wanted(64), **DANTAS, mutation_rate=0, population=9)
    order = np.argsort(mine.snapshot()["cost"], axis=1, kind="stable")
    before = genomes(mine)
    mine.advance(1)
    after = genomes(mine)
    for island in range(2):
        best, second = (before[island][slot] for slot in order[island, :2])
        crossed = [(best[:cut] + second[cut:], second[:cut] + best[cut:]) for cut in range(1, 64)]
        for first in range(0, 8, 2):
            assert (after[island][first], after[island][first + 1]) in crossed
        assert after[island][8] in [child for child, _ in crossed]


@pytest.mark.parametrize("children", [0, 1, 5, 12])
@pytest.mark.parametrize("duplicates", ["accept", "refuse"])
def test_steady_state_never_gets_worse(backend: Backend, children: int, duplicates: str) -> None:
    mine, reference = both(backend, Wanted(6), children=children, duplicates=duplicates)
    for _ in range(12):
        before = np.sort(mine.snapshot()["cost"], axis=1)
        assert_evolves(mine, reference, 1)
        after = np.sort(mine.snapshot()["cost"], axis=1)
        assert (after[:, 0] <= before[:, 0]).all()
        if duplicates == "accept":
            assert (after <= before).all()


def test_child_with_equal_cost_replaces_no_individual(backend: Backend) -> None:
    mine, reference = both(backend, flat(9, 720), "permutation", duplicates="accept")
    before = mine.snapshot()["genes"]
    assert_evolves(mine, reference, 3)
    assert np.array_equal(mine.snapshot()["genes"], before)


def test_refusing_duplicates_removes_them(backend: Backend) -> None:
    problem = Wanted(9)
    accepting, _ = both(backend, problem, duplicates="accept", population=40)
    refusing, reference = both(backend, problem, population=40)
    for _ in range(60):
        accepting.advance(1)
        refusing.advance(1)
        reference.evolve(1)
    assert_same(refusing, reference)
    assert min(reference.refused, reference.displaced) > 0, "nothing was refused or displaced"
    for mine, fewest in ((accepting, 1), (refusing, 38)):
        different = [len({str(genome) for genome in island}) for island in genomes(mine)]
        assert all(fewest <= count for count in different)
        assert mine is refusing or max(different) < 20


@pytest.mark.parametrize("selection", ["tournament", "proportional"])
def test_duplicates_are_compared_by_their_genes(backend: Backend, selection: str) -> None:
    problem = Wanted(12)
    problem.weight[:] = 1
    mine, reference = both(backend, problem, population=30, selection=selection)
    assert_evolves(mine, reference, 15)
    assert min(reference.refused, reference.displaced) > 0
    assert any(len(set(cost)) < 15 for cost in reference.cost), "no costs are equal"


@pytest.mark.parametrize("replacement", ["generational", "steady"])
@pytest.mark.parametrize("encoding", ["permutation", "keys"])
def test_improvers_change_children(backend: Backend, replacement: str, encoding: str) -> None:
    search = {"name": "two_opt", "rate": 0.5}
    problem = facilities(7)
    mine, reference = both(
        backend, problem, encoding, replacement=replacement, search=search, reset=3
    )
    if encoding == "permutation":
        assert_evolves(mine, reference, 12)
        assert reference.restarts > 0
    mine.advance(5)
    saved = mine.snapshot()
    for rows, costs in zip(saved["genes"], saved["cost"], strict=True):
        assert problem.costs(mine._encodings[0].decode(rows)).tolist() == costs.tolist()


@pytest.mark.parametrize("replacement", ["generational", "steady"])
def test_islands_restart_and_keep_the_best_ever(backend: Backend, replacement: str) -> None:
    problem = Wanted(8)
    mine, reference = both(backend, problem, reset=3, replacement=replacement, islands=3)
    mine.advance(25)
    reference.evolve(25)
    assert_same(mine, reference)
    assert reference.restarts > 0
    assert [each.best for each in mine.measure()] == reference.ever
    best = mine.best()
    assert best is not None
    assert best.cost == min(reference.ever) == problem.cost(best.solution)


def test_generational_replacement_keeps_the_best_ever(backend: Backend) -> None:
    problem = Wanted(60)
    mine, reference = both(backend, problem, **DANTAS)
    mine.advance(40)
    reference.evolve(40)
    assert_same(mine, reference)
    assert reference.ever != [min(cost) for cost in reference.cost], "the best was never lost"
    assert [each.best for each in mine.measure()] == reference.ever
    best = mine.best()
    assert best is not None
    assert best.cost == problem.cost(best.solution) == min(reference.ever)


@pytest.mark.parametrize("replacement", ["generational", "steady"])
def test_given_solutions_are_the_first_individuals(backend: Backend, replacement: str) -> None:
    problem = Wanted(40)
    given = np.random.default_rng(1).integers(0, 2, (5, 40)).tolist()
    mine, reference = both(backend, problem, given=given, replacement=replacement)
    assert genomes(mine)[1][:2] == [given[1], given[3]]
    assert_evolves(mine, reference)


def test_extreme_costs_do_not_overflow_the_selection(backend: Backend) -> None:
    a, b = np.array([[0, 1 << 30], [0, 0]]), np.array([[0, 1 << 29], [1, 0]])
    problem = Qap(QapFile(name="far", path=None, size=2, a=a, b=b))
    changes = {"selection": "proportional", "replacement": "generational"}
    mine, reference = both(backend, problem, "permutation", **changes, mutation_rate=0.5)
    assert max(map(max, reference.cost)) - min(map(min, reference.cost)) > 2**58
    assert_evolves(mine, reference)


@pytest.mark.parametrize("topology", ["ring", "broadcast"])
def test_runs_with_migration_do_not_depend_on_threads(topology: str) -> None:
    digests = set()
    for threads in (1, 2, 5):
        mine = one_colony(
            problem=Wanted(90),
            algorithm="ga",
            encoding="bits",
            settings=GaSettings.build(DANTAS),
            population=10,
            islands=4,
            seed=3,
            migration=MigrationSettings.build({"topology": topology, "migrants": 1}),
            backend=choose("cpu", threads),
            world=World(),
        )
        mine.start()
        for _ in range(3):
            mine.advance(4)
            mine.migrate()
        digests.add(str(mine.digests()))
    assert len(digests) == 1


def test_concurrent_runs_equal_single_runs(backend: Backend) -> None:
    problem = Wanted(70)
    concurrent, _ = both(backend, problem, runs=3)
    concurrent.advance(6)
    alone = []
    for seed in (5, 6, 7):
        mine, _ = both(backend, problem, seed=seed)
        mine.advance(6)
        alone += [digest for _, digest in mine.digests()]
    assert [digest for _, digest in concurrent.digests()] == alone
