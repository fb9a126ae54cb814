"""Other programs on models: their data and answers, compared with all solutions."""

from __future__ import annotations

import re
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from problems_for_tests import knapsack

import islands
from islands.bench import rivals
from islands.bench.plain_models import (
    colouring_of,
    covering_of,
    medians_of,
    packing_of,
    quadratic_of,
    shop_of,
)
from islands.bench.rivals import RIVALS
from islands.instances.catalogue import BestKnown
from islands.modelling.model import Model

RANDOM = np.random.default_rng(12)
EDGES = np.array([(a, b) for a in range(9) for b in range(a) if RANDOM.random() < 0.5] + [(9, 0)])
WEIGHTS = RANDOM.integers(-3, 9, len(EDGES))
MATRIX = RANDOM.integers(-9, 9, (10, 10))
ROWS = [RANDOM.choice(10, 3, replace=False).tolist() for _ in range(8)]
COSTS = RANDOM.integers(1, 9, 10)
DISTANCES = RANDOM.integers(1, 20, (10, 10))
DISTANCES += DISTANCES.T
SIZES = [7, 6, 5, 4, 3, 3, 2]
MACHINES, TIMES = [[0, 1, 2], [2, 0, 1], [1, 2, 0]], RANDOM.integers(1, 20, (3, 3)).tolist()


def cut() -> Model:
    return islands.models.max_cut(EDGES, WEIGHTS)


def quadratic(*, maximise: bool = False) -> Model:
    return islands.qubo(MATRIX, maximise=maximise)


def cover() -> Model:
    return islands.models.set_cover(COSTS, ROWS)


def shop() -> Model:
    return islands.models.job_shop(MACHINES, TIMES)


def colours() -> Model:
    return islands.models.graph_colouring(EDGES)


def bins() -> Model:
    return islands.models.bin_packing(SIZES, 11)


def places() -> Model:
    return islands.models.p_median(DISTANCES, 4)


def diverse() -> Model:
    return islands.models.max_diversity(DISTANCES, 4)


def subsets(n: int = 10) -> Any:
    return np.array(list(product((0, 1), repeat=n)), np.int8)


@pytest.mark.parametrize(
    "problem", [cut(), quadratic(), quadratic(maximise=True), islands.qubo(MATRIX / 4)]
)
def test_a_quadratic_problem_has_the_costs_of_its_model(problem: Model) -> None:
    given = quadratic_of(problem)
    assert given is not None
    costs = [given.cost(each) for each in subsets()[::7]]
    assert costs == pytest.approx(problem.costs(subsets()[::7]).tolist())


KINDS = (shop_of, covering_of, quadratic_of, colouring_of, packing_of, medians_of)
MODELS = (shop, cover, cut, colours, bins, places)
"""A model of each kind."""


def recognised(problem: Any) -> list[bool]:
    return [kind(problem) is not None for kind in KINDS]


@pytest.mark.parametrize("k", range(len(MODELS)))
def test_a_model_is_one_of_its_kind_only(k: int) -> None:
    assert recognised(MODELS[k]()) == [k == each for each in range(len(KINDS))]


@pytest.mark.parametrize("problem", [each() for each in MODELS])
def test_changed_models_are_refused(problem: Model) -> None:
    text = "__device__ long long cost(const Solution& s, int n, const Data& data) { return n; }"
    violation = text.replace("cost(", "violation(")
    for changes in ({"cost": text}, {"violation": violation, "state": None}):
        changed = islands.models.changed(problem, **changes)
        assert not any(recognised(changed))
        for name in ("cpsat", "highs", "dwave-tabu"):
            assert "only" in (RIVALS[name].refusal(changed) or "")
    # Another search is the same problem.
    assert recognised(islands.models.changed(problem, state=None)) == recognised(problem)


def test_other_problems_are_refused() -> None:
    other, flow = knapsack(5, 2), islands.models.flow_shop(TIMES)
    fixed = islands.models.graph_colouring(EDGES, 3)
    some = islands.models.changed(cut(), choose=4, state=None)
    for problem in (other, flow, fixed, some):
        assert not any(recognised(problem))
        for name in ("cpsat", "dwave-tabu", "dwave-annealing"):
            assert "only" in (RIVALS[name].refusal(problem) or "")
    real = islands.models.max_diversity(DISTANCES / 2, 4)
    assert RIVALS["highs"].refusal(flow)
    assert RIVALS["cpsat"].refusal(real)


def answered(name: str, problem: Model, seconds: float = 0.5) -> tuple[float, bool]:
    """Return the cost and whether it is proved, after the check that `quality` makes."""
    rival = RIVALS[name]
    pytest.importorskip(rival.module)
    assert rival.refusal(problem) is None
    with rivals.silent_processes(1) as pool:
        answer = pool.apply(rivals._solved, (name, rival.given(problem), 1, seconds, 2))
    rivals._check(rival, problem, answer)
    return answer.course[-1][1], answer.proved


@pytest.mark.parametrize("name", ["dwave-tabu", "dwave-annealing"])
@pytest.mark.parametrize("problem", [cut(), quadratic(), quadratic(maximise=True), diverse()])
def test_samplers_find_the_best_subset(name: str, problem: Model) -> None:
    costs = problem.costs(subsets())
    best = costs.max() if problem.maximise else costs.min()
    assert answered(name, problem)[0] == best
    problem.best_known = BestKnown(int(best), "optimal", "")
    assert answered(name, problem, 600.0)[0] == best  # ends when it is reached


@pytest.mark.parametrize("name", ["highs", "cpsat"])
@pytest.mark.parametrize("problem", [cover(), places()])
def test_exact_solvers_prove_the_best_subset(name: str, problem: Model) -> None:
    best = problem.costs(subsets()).min()
    assert answered(name, problem, 20.0) == (best, True)


def test_cp_sat_proves_the_best_choice() -> None:
    assert answered("cpsat", diverse(), 20.0) == (diverse().costs(subsets()).max(), True)


@pytest.mark.parametrize("problem", [colours(), bins()])
def test_cp_sat_proves_the_fewest_colours_and_bins(problem: Model) -> None:
    assert problem.functions is not None
    found = re.search(r"constexpr int (?:COLOURS|BINS) = (\d+)", problem.functions.cost.code)
    assert found is not None
    count = int(found[1])
    # The first item has the first number.
    numbers = np.array([(0, *each) for each in product(range(count), repeat=problem.size - 1)])
    best = problem.costs((numbers + 0.5) / count).min()
    assert answered("cpsat", problem, 20.0) == (best, True)


def test_cp_sat_proves_the_best_schedule() -> None:
    problem = shop()
    jobs = set(permutations([0, 0, 0, 1, 1, 1, 2, 2, 2]))
    orders = np.array(
        [[3 * job + each[:k].count(job) for k, job in enumerate(each)] for each in jobs]
    )
    assert answered("cpsat", problem, 20.0) == (problem.costs(orders).min(), True)
