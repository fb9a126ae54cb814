"""Many instances in one call give the results of `solve`, whatever else is among them."""

import gc
import pickle
from collections.abc import Iterator
from dataclasses import replace
from threading import Barrier, get_ident
from typing import Any
from weakref import WeakSet

import numpy as np
import own_problems
import pytest

import islands
from islands.engine import dealing
from islands.engine.limits import LIMITS
from islands.engine.shared import SharedLoop, VisitRecords
from islands.errors import RunError
from islands.modelling.model import Model
from islands.parallel import world

SETTINGS = {"islands": 1, "population": 20, "backend": "cpu"}
STOP = ["converged", "seconds=10"]
RANDOM = np.random.default_rng(54)


def tours(count: int, low: int = 30, high: int = 120) -> list[islands.Problem]:
    sizes = np.random.default_rng(7).integers(low, high, count, endpoint=True)
    return [islands.tsp(np.random.default_rng(n).random((n, 2)) * 1000) for n in sizes.tolist()]


def alone(problem: islands.Problem, **settings: Any) -> islands.Result:
    return islands.solve(problem, threads=1, **{"stop": STOP, **SETTINGS, **settings})


@pytest.mark.slow
def test_seeds_and_runs_follow_one_another() -> None:
    problems = tours(2)
    found = islands.solve_many(problems, seeds=[7, 3], runs=2, **SETTINGS)
    assert [each.seed for each in found] == [7, 8, 3, 4]
    assert found[3].digest == alone(problems[1], seed=4).digest
    assert [each.seed for each in islands.solve_many(problems, runs=2, **SETTINGS)] == [1, 2, 1, 2]


@pytest.mark.slow
def test_arrays_are_problems() -> None:
    # Exact lengths by coordinates, and those lengths in whole numbers by a matrix.
    places = RANDOM.random((3, 14, 2)) * 100
    exact = np.linalg.norm(places[:, :, None] - places[:, None], axis=3)
    apart = np.rint(exact * 1e6).astype(int)
    by_places, by_distances = (islands.solve_many(each, **SETTINGS) for each in (places, apart))
    for mine, matrix in zip(by_distances, apart, strict=True):
        assert mine.cost == alone(islands.tsp(distances=matrix)).cost
    lengths = [each.cost / 1e6 for each in by_distances]
    assert [each.cost for each in by_places] == pytest.approx(lengths, rel=1e-6)
    flows, between = RANDOM.integers(0, 9, (2, 3, 8, 8))
    assigned = islands.solve_many(islands.qap_batch(flows, between[0]), **SETTINGS)
    for mine, flow in zip(assigned, flows, strict=True):
        order = mine.solution
        assert mine.cost == (flow * between[0][np.ix_(order, order)]).sum()
    profits, weights = RANDOM.integers(1, 50, (4, 20)), RANDOM.integers(1, 50, (4, 3, 20))
    packed = islands.mkp_batch(profits, weights, [200] * 3)
    found = islands.solve_many(packed[1:], backend="cpu", generations=5)
    for mine, profit, weight in zip(found, profits[1:], weights[1:], strict=True):
        assert mine.cost == mine.solution @ profit
        assert (weight @ mine.solution <= 200).all()


@pytest.mark.slow
@pytest.mark.parametrize("callback", [None, lambda _: False])
def test_solved_problems_and_their_results_are_not_kept(callback: Any) -> None:
    """With a callback, each is solved alone."""
    problems, results = WeakSet[Any](), WeakSet[Any]()

    def stream() -> Iterator[islands.Problem]:
        for number in range(300):
            made = islands.tsp(np.random.default_rng(number).random((8, 2)) * 100)
            problems.add(made)
            yield made

    most = [0, 0]
    settings = {"generations": 1, "threads": 2, "callback": callback, **SETTINGS}
    gc.freeze()  # collecting what other tests have left would take minutes
    try:
        for _, result in islands.iter_many(stream(), **settings):
            results.add(result)
            gc.collect()
            most = [max(most[0], len(problems)), max(most[1], len(results))]
        del result
        gc.collect()
    finally:
        gc.unfreeze()
    assert 1 < most[0] < 90
    assert most[1] < 10
    assert len(results) == 0
    assert len(problems) == 0


@pytest.mark.slow
def test_a_fault_names_its_problem() -> None:
    problems = [own_problems.vector(9, np.random.default_rng(each)) for each in range(5)]
    cost = problems[2].statement.cost.replace("return sum", "return 0.0 / (sum - sum)")
    problems[2] = Model(problems[2].kind, replace(problems[2].statement, cost=cost))
    settings = {"islands": 1, "population": 8, "backend": "cpu", "generations": 5}
    with pytest.raises(RunError, match=r"^problems\[2\]: "):
        islands.solve_many(problems, threads=1, **settings)


def test_kinds_migrate_at_the_same_time_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = 2
    begun, made = Barrier(threads, timeout=60), list[int]()
    original = SharedLoop.solve

    def together(sharing: SharedLoop[Any], *given: Any) -> Any:
        made.append(get_ident())
        if len(made) <= threads:
            begun.wait()  # until the other thread begins, too
        return original(sharing, *given)

    monkeypatch.setattr(SharedLoop, "solve", together)
    problems = [islands.tsp(1000 * RANDOM.random((n, 2))) for n in (9, 13) * 8]
    settings: dict[str, Any] = {"islands": 3, "interval": 5, "generations": 19, "algorithm": "ga"}
    found = islands.solve_many(problems, seed=4, threads=threads, **{**SETTINGS, **settings})
    assert made[0] != made[1]
    shared = {len(each.solution) for each in found if isinstance(each.records, VisitRecords)}
    assert shared == {9, 13}
    for mine, problem in zip(found, problems, strict=True):
        other = alone(problem, seed=4, stop=[], **settings)
        assert mine.digest == other.digest
        assert mine.migrations().num_rows == other.migrations().num_rows > 0


@pytest.mark.mpi
def test_ranks_share_the_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        dealing, "LIMITS", replace(LIMITS, round_seconds=-1.0)
    )  # so that there are several rounds
    problems = tours(11)
    found = islands.solve_many(problems, threads=1, seed=4, **SETTINGS)
    ranks = world()
    assert {*ranks.allgather(tuple(each.digest for each in found))} == {
        tuple(alone(each, seed=4, world=islands.parallel.World()).digest for each in problems)
    }


def test_an_error_names_the_problem_and_not_the_result() -> None:
    runs = 3
    wrong = islands.permutation(4, function=lambda order: "text")
    problems = [*islands.tsp_batch(np.random.default_rng(1).random((2, 6, 2))), wrong]
    with pytest.raises(RunError, match=r"^problems\[2\]: "):
        islands.solve_many(problems, runs=runs, generations=2, backend="cpu")


@pytest.mark.mpi
@pytest.mark.parametrize("algorithm", ["ga", "memetic"])
def test_ranks_share_arrays_and_functions(algorithm: str) -> None:
    random = np.random.default_rng(3)
    flows, distances = random.integers(0, 20, (2, 7, 8, 8))
    problems = islands.qap_batch(flows, distances)
    found = islands.solve_many(problems, algorithm=algorithm, threads=1, seed=4, **SETTINGS)
    for each, problem in zip(found, problems, strict=True):
        other = alone(problem, algorithm=algorithm, seed=4, world=islands.parallel.World())
        assert each.digest == other.digest
        assert each.trace().column_names == other.trace().column_names
        kept = pickle.loads(pickle.dumps(each)).records
        assert kept.problem.cost(each.solution) == each.cost
