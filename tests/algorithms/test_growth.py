"""Resampled growth solves assignments that hide a grid, and proves it by a lower bound."""

from contextlib import nullcontext
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

import islands
from islands.instances.grids import grid
from islands.problems.qap import Qap
from islands.testing.devices import emulated_gpu

_CPU = {"backend": "cpu", "threads": 2, "seconds": 60}


def _solved(problem: Qap, **options: object) -> islands.Result:
    return islands.solve(problem, **{**_CPU, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize("turned", [False, True])
def test_the_default_search_proves_the_optimum(*, turned: bool) -> None:
    planted = grid(7, 9)
    result = _solved(Qap(planted.file(turned=turned)))
    assert result.cost == planted.cost
    assert result.reason == f"lower bound {planted.cost} reached, which proves the optimum"
    assert result.settings["algorithm"] == "growth"


def test_large_numbers() -> None:
    planted = grid(7, 7, largest=2**27)
    problem = Qap(planted.file())
    assert problem.swaps.sparse.number is np.int64
    assert _solved(problem).cost == planted.cost


@pytest.mark.parametrize("faults", [{"deleted": 20}, {"false": 1}])
def test_faults(faults: dict[str, int]) -> None:
    planted = grid(7, 7, **faults)  # type: ignore[arg-type]
    assert _solved(Qap(planted.file()), target=planted.cost).cost <= planted.cost


def test_several_components() -> None:
    parts = [grid(4, 5, seed) for seed in (1, 2, 3)]
    n = sum(len(each.flows) for each in parts)
    flows, random = np.zeros((n, n), np.int64), np.random.default_rng(1)
    distances = np.triu(random.integers(2, 11, (n, n)), 1)
    distances += distances.T
    for k, each in enumerate(parts):
        part = slice(20 * k, 20 * k + 20)
        flows[part, part], distances[part, part] = each.flows, each.distances
    optimum = sum(each.cost for each in parts)
    assert _solved(islands.qap(flows, distances)).cost == optimum


def test_facilities_without_flows() -> None:
    planted = grid(6, 7)
    flows = np.pad(planted.flows, ((0, 6), (0, 6)))
    distances = np.pad(planted.distances, ((0, 6), (0, 6)), constant_values=10)
    np.fill_diagonal(distances, 0)
    assert _solved(islands.qap(flows, distances)).cost == planted.cost


def test_few_items_and_hidden_distances() -> None:
    planted = grid(3, 4, hidden=3)
    own = {"algorithm": "growth", "islands": 2, "population": 4, "growths": 16, "sweeps": 2}
    result = _solved(Qap(planted.file()), generations=10, batches=4, **own)
    assert result.cost <= planted.cost


def test_beam_searches_find_hidden_distances() -> None:
    planted = grid(8, 8, seed=2, hidden=2)
    own = {"islands": 1, "population": 16, "batches": 12, "generations": 12}
    # Without beam searches, the cost is 29 % above that of the hidden assignment.
    assert _solved(Qap(planted.file()), **own).cost < 1.1 * planted.cost


def test_beam_searches_find_the_hidden_grid() -> None:
    planted = grid(7, 8, hidden=2)
    own = {"islands": 1, "population": 16, "batches": 12, "generations": 12}
    # If all of them use the flows as they are, the cost is 7 % above that of the hidden assignment.
    assert _solved(Qap(planted.file()), **own).cost <= planted.cost


def test_the_cheapest_stays_among_those_with_low_costs_in_the_pattern() -> None:
    random = np.random.default_rng(1)
    distances = np.triu(random.integers(1, 100, (56, 56)), 1)
    problem = islands.qap(grid(7, 8, largest=1000).flows, distances + distances.T)
    own = {"algorithm": "growth", "islands": 1, "population": 4, "growths": 16, "batches": 2}
    best = _solved(problem, **own, generations=40)
    start = [*(random.permutation(56) for _ in range(3)), best.solution]
    assert _solved(problem, **own, start=start, generations=1).cost == best.cost


def test_beams_of_few_items_and_several_components() -> None:
    flows, random = np.zeros((9, 9), np.int64), np.random.default_rng(3)
    for one, other in ((0, 1), (1, 2), (3, 4), (5, 6)):
        flows[one, other] = flows[other, one] = random.integers(1, 9)
    distances = np.triu(random.integers(1, 99, (9, 9)), 1)
    problem = islands.qap(flows, distances + distances.T)
    costs = problem.costs(np.array(list(permutations(range(9)))))
    own = {"algorithm": "growth", "islands": 1, "population": 4, "sweeps": 0, "batches": 3}
    for growths in (16, 64):
        result = _solved(problem, growths=growths, generations=6, **own)
        assert sorted(result.solution.tolist()) == list(range(9))
        assert costs.min() == result.cost


def test_given_solutions_stay_the_best() -> None:
    planted = grid(6, 7, hidden=2)
    problem = Qap(planted.file())
    own = {"islands": 1, "population": 4, "growths": 16, "generations": 1}
    assert _solved(problem, start=[planted.solution], **own).cost <= planted.cost


def test_it_resumes(tmp_path: Path) -> None:
    problem = Qap(grid(6, 8, hidden=2).file())
    own = {"islands": 2, "population": 8, "growths": 16, "sweeps": 2, "batches": 4}
    whole = _solved(problem, generations=9, **own)
    _solved(problem, generations=5, out=tmp_path / "run", **own)
    resumed = islands.resume(tmp_path / "run", generations=9)
    assert resumed.digest == whole.digest


def test_a_time_limit_in_the_first_batch() -> None:
    result = _solved(Qap(grid(20, 25).file()), seconds=0.01, threads=1)
    assert sorted(result.solution.tolist()) == list(range(500))


_ANNEALS = {"islands": 1, "population": 4, "growths": 16, "batches": 1}


def test_an_annealing_is_abandoned_and_repeated(tmp_path: Path) -> None:
    problem = Qap(grid(6, 8, hidden=2).file())
    own = {**_ANNEALS, "threads": 1, "sweeps": 256}  # each generation takes longer
    ended = _solved(problem, seconds=0.5, out=tmp_path / "run", **own)
    generations = ended.generations + 1
    resumed = islands.resume(tmp_path / "run", generations=generations)
    assert resumed.digest == _solved(problem, generations=generations, **own).digest


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_time_limit_in_an_annealing(device: str) -> None:
    size = (20, 20) if device == "cpu" else (7, 10)  # many times longer than allowed
    problem = Qap(grid(*size, hidden=2).file())
    own = {**_ANNEALS, "threads": 1, "sweeps": 8192, "algorithm": "growth"}
    with emulated_gpu(32) if device == "emulated" else nullcontext():
        result = _solved(problem, seconds=1, **own)
    assert result.generations == 0
    assert result.seconds < 3
