"""The genetic algorithm on all devices compared with a NumPy reference, bit for bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy_ga import DANTAS, assert_evolves, assert_same, both, genomes
from problems_for_tests import NUMBERS, cities, facilities, flat, knapsack
from test_operators import Wanted

from islands.backends.base import Backend
from islands.instances.qaplib import QapFile
from islands.problems.base import Problem
from islands.problems.mkp import WAYS, MkpSettings
from islands.problems.qap import Qap

STEADY, GENERATIONAL = {"replacement": "steady"}, {"replacement": "generational"}
BLEND = {"crossover": "blend", "mutation": "gaussian", "reset": 2}
FAR = Qap(
    QapFile("far", None, 2, np.array([[0, 1 << 30], [0, 0]]), np.array([[0, 1 << 29], [1, 0]]))
)

Case = tuple[Callable[..., Problem], str, dict[str, Any]]
RUNS: dict[str, Case] = {
    **{f"{n} bits, paper": (lambda n=n: Wanted(n), "bits", DANTAS) for n in (1, 33)},
    **{f"{n} bits, steady": (lambda n=n: Wanted(n), "bits", {}) for n in (2, 31, 200)},
    **{
        f"{kind} of {n}, {more}": (lambda n=n, kind=kind: NUMBERS[kind](n), kind, more)
        for kind in NUMBERS
        for n, more in (
            (1, STEADY), (5, GENERATIONAL), (26, STEADY | BLEND), (2, GENERATIONAL | BLEND)
        )
    },
    **{
        f"{encoding} of {n}, {more}": (lambda n=n: facilities(n), encoding, more)
        for encoding in ("permutation", "keys")
        for n, more in ((1, STEADY), (2, GENERATIONAL), (5, GENERATIONAL), (26, STEADY))
    },
    **{
        f"selection {more}": (lambda: Wanted(40), "bits", more)
        for more in (
            STEADY | {"selection": "best", "population": 3},
            GENERATIONAL | {"selection": "best", "population": 2},
            STEADY | {"selection": "random"},
            GENERATIONAL | {"selection": "random", "population": 3},
            STEADY | {"selection": "proportional", "population": 2},
            GENERATIONAL | {"selection": "proportional", "population": 13},
            STEADY | {"tournament": 1},
            GENERATIONAL | {"tournament": 5},
            GENERATIONAL | {"tournament": 1000, "population": 2},
        )
    },
    **{
        f"elite {elite} {rates} {strength}": (
            lambda: Wanted(50),
            "bits",
            GENERATIONAL | {
                "elite": elite, "strength": strength,
                "crossover_rate": rates[0], "mutation_rate": rates[1],
            },
        )
        for elite, rates, strength in (
            (0, (0.5, 0.5), 3), (1, (0, 1), 1), (4, (0.5, 0.5), 1),
            (11, (1, 0), 1), (1, (0.5, 0), 3),
        )
    },
    **{
        f"{children} children, {duplicates}": (
            lambda: Wanted(6), "bits", {"children": children, "duplicates": duplicates},
        )
        for children, duplicates in ((0, "accept"), (1, "refuse"), (5, "accept"), (12, "refuse"))
    },
    "extreme costs": (
        lambda: FAR,
        "permutation",
        GENERATIONAL | {"selection": "proportional", "mutation_rate": 0.5},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_runs_equal_the_reference(backend: Backend, name: str) -> None:
    make, encoding, changes = RUNS[name]
    problem = make()
    mine, reference = both(backend, problem, encoding, **changes)
    assert_evolves(mine, reference)
    if encoding in NUMBERS:
        assert mine._encodings[0].holds(np.array(reference.genomes).reshape(-1, problem.size))
    if changes.get("elite"):
        assert [min(cost) for cost in reference.cost] == reference.ever


def test_tours_equal_the_reference(backend: Backend, tmp_path: Any) -> None:
    for encoding, more in (("permutation", STEADY), ("keys", GENERATIONAL)):
        assert_evolves(*both(backend, cities(26, tmp_path), encoding, **more))


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


@pytest.mark.parametrize("cost", [0, 720])
def test_equal_parents_are_equally_likely(backend: Backend, cost: int) -> None:
    changes = GENERATIONAL | {"selection": "proportional", "mutation_rate": 0}
    mine, reference = both(backend, flat(9, cost), "permutation", **changes, population=10)
    ranked = [(genome, cost) for genome in reference.genomes[0]]
    drawn = Counter(
        reference.genomes[0].index(mate)
        for individual in range(500)
        for mate in reference.mates((1, 0, 1, individual), ranked, list(range(10)))
    )
    assert all(60 < drawn[slot] < 140 for slot in range(10))
    assert_evolves(mine, reference, 3)


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


@pytest.mark.parametrize(
    ("n", "generations", "changes"),
    [
        (8, 25, GENERATIONAL | {"reset": 3, "islands": 3}),
        (8, 25, STEADY | {"reset": 3, "islands": 3}),
        (60, 40, DANTAS),
    ],
)
def test_the_best_ever_is_kept(
    backend: Backend, n: int, generations: int, changes: dict[str, Any]
) -> None:
    problem = Wanted(n)
    mine, reference = both(backend, problem, **changes)
    mine.advance(generations)
    reference.evolve(generations)
    assert_same(mine, reference)
    if "reset" in changes:
        assert reference.restarts > 0
    else:
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
