"""Other programs of `bench quality`: their answers, processes and refusals."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from problems_for_tests import cities, facilities, knapsack, tsp_from

import islands
from islands.bench import rivals
from islands.bench.base import BenchRequest
from islands.bench.rivals import RIVALS, Answer, Contest, _course, require_fitting, silent_processes
from islands.errors import RunError, UsageError
from islands.instances.catalogue import BestKnown
from islands.parallel import World
from islands.problems.base import Problem

HIGHS = RIVALS["highs"]


def best_profit(problem: Any) -> int:
    """Return the profit of the best of all choices."""
    choices = (np.arange(1 << problem.size)[:, None] >> np.arange(problem.size)) & 1
    fits = (choices @ problem.file.weights.T <= problem.file.capacities).all(axis=1)
    return int(problem.costs(choices[fits]).max())


def test_highs_finds_the_optimum() -> None:
    pytest.importorskip("scipy")
    problem = knapsack(12, 3)
    answer = HIGHS.solve(problem, 1, 20.0)
    ((seconds, profit),) = answer.course
    assert (profit, answer.proved, seconds) == (best_profit(problem), True, answer.seconds)


def test_busy_processes_end_with_their_block() -> None:
    began = time.monotonic()
    with silent_processes(1) as processes:
        processes.apply_async(time.sleep, (60,))
        (process,) = processes._pool  # type: ignore[attr-defined]
    assert not process.is_alive()
    assert time.monotonic() - began < 30


def shortest(problem: Problem) -> int:
    """Return the length of the shortest of all tours."""
    tours = [(0, *rest) for rest in itertools.permutations(range(1, problem.size))]
    return int(problem.costs(np.array(tours)).min())


def as_matrix(problem: Any, folder: Path) -> Problem:
    """Return the same cities from a file with all distances."""
    cities = np.arange(problem.size)
    rows = problem.near.between(cities[:, None], cities[None, :]).tolist()
    head = ["NAME: m", "TYPE: TSP", f"DIMENSION: {problem.size}", "EDGE_WEIGHT_TYPE: EXPLICIT"]
    head += ["EDGE_WEIGHT_FORMAT: FULL_MATRIX", "EDGE_WEIGHT_SECTION"]
    path = folder / "matrix.tsp"
    path.write_text("\n".join([*head, *(" ".join(map(str, row)) for row in rows), "EOF", ""]))
    return tsp_from(path)


@pytest.mark.parametrize(
    ("name", "metric"),
    [("lkh", "EUC_2D"), ("lkh", "ATT"), ("lkh", "EXPLICIT"), ("ortools", "EUC_2D")],
)
def test_a_rival_finds_the_shortest_tour(name: str, metric: str, tmp_path: Path) -> None:
    pytest.importorskip(RIVALS[name].module)
    problem: Problem = cities(8, tmp_path, metric if metric != "EXPLICIT" else "EUC_2D")
    problem = as_matrix(problem, tmp_path) if metric == "EXPLICIT" else problem
    with silent_processes(1) as pool:
        answer = pool.apply(rivals._solved, (name, problem, 1, 0.3))
    assert answer.course[-1][1] == problem.cost(np.array(answer.solution)) == shortest(problem)
    assert answer.seconds < 10


def test_the_course_of_lkh_is_read_from_its_output() -> None:
    output = """Lower bound = 92823.5, Gap = 0.76%, Ascent time = 0.20 sec.
Cand.min = 5, Cand.avg = 5.0, Cand.max = 5
Preprocessing time = 0.25 sec.
* 1: Cost = 94031, Gap = 0.5357%, Time = 0.01 sec.
2: Cost = 94100, Gap = 0.6%, Time = 0.02 sec.
* 7: Cost = 93560, Gap = 0.0321%, Time = 1.50 sec. =
*** Time limit exceeded ***
"""
    assert _course(output) == [(pytest.approx(0.26), 94031), (1.75, 93560)]


class Stub(rivals.Rival):
    """Answers at once: each copy with the course of its seed."""

    name, package, module = "stub", "numpy", "numpy"
    courses: dict[int, Any] = {}

    def refusal(self, problem: Problem) -> str | None:
        """Refuse what is no assignment."""
        return "solves assignments only" if problem.name != "qap" else None

    def solve(self, problem: Problem, seed: int, seconds: float) -> Answer:
        """Return the course of a seed."""
        return Answer(self.courses[seed], None, seconds + seed)


def results(problem: Problem, seed: int, monkeypatch: Any, **courses: Any) -> dict[str, Any]:
    stub = Stub()
    monkeypatch.setitem(RIVALS, "stub", stub)
    monkeypatch.setattr(Stub, "courses", {int(each[1:]): c for each, c in courses.items()})
    request = BenchRequest(World(), ["cpu"], rivals=("stub",), threads=2, limit=9.0)
    held = Contest(request)
    monkeypatch.setattr(
        held,
        "_answers",
        lambda rival, problem, seeds: [rival.solve(problem, s, 9.0) for s in seeds],
    )
    (found,) = held.results(problem, seed)
    return found


def test_the_best_of_all_copies_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = facilities(6)
    s3, s4 = [(1.0, 90), (5.0, 70)], [(2.0, 80), (6.0, 75)]
    found = results(problem, 2, monkeypatch, s3=s3, s4=s4)
    assert found["course"] == [[1.0, 90], [2.0, 80], [5.0, 70]]
    assert (found["cost"], found["seconds"], found["islands"]) == (70, 13.0, 2)
    problem.best_known = BestKnown(70, "optimal", "")
    # The run ends with the first copy that ends.
    assert results(problem, 2, monkeypatch, s3=s3, s4=s4)["seconds"] == 12.0
    none = results(problem, 1, monkeypatch, s1=[], s2=[])
    assert (none["cost"], none["course"]) == (None, [])


def test_a_wrong_cost_of_a_rival_is_detected() -> None:
    problem = facilities(6)
    order = np.arange(6)
    right = Answer([(1.0, problem.cost(order))], order.tolist(), 1.0)
    rivals._check(Stub(), problem, right)
    wrong = Answer([(1.0, problem.cost(order) - 1)], order.tolist(), 1.0)
    with pytest.raises(RunError, match="stub reports a cost of"):
        rivals._check(Stub(), problem, wrong)


def test_a_rival_that_does_not_end_has_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rivals, "_solved", time.sleep)
    monkeypatch.setattr(rivals, "_STARTING", 1.0)
    request = BenchRequest(World(), ["cpu"], rivals=("highs",), threads=1, limit=0.1)
    with Contest(request) as held:
        monkeypatch.setattr(
            rivals.Pool, "starmap_async", lambda self, f, w, chunksize: self.map_async(f, [60])
        )
        assert held._answers(HIGHS, knapsack(5, 2), range(1)) == []
        assert held._pool is None


def test_rivals_that_cannot_run_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = facilities(5)
    with pytest.raises(UsageError, match="lkh"):
        require_fitting(["lkh"], [problem], 1)
    for name in ("lkh", "ortools"):
        require_fitting([name], [islands.tsp([[0, 0.5], [1, 0]], "EUC_2D")], 1)
        with pytest.raises(UsageError):
            require_fitting([name], [islands.tsp([[0, 0.5], [1, 0]])], 1)
    require_fitting(["highs"], [problem, knapsack(5, 2)], 1)
    monkeypatch.setattr(rivals, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match="pip install elkai"):
        rivals.require_installed(["lkh"])
