"""The queue: which instances share launches, how many at a time, and on which thread."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from instance_texts import tsplib_text
from shared_launches import ProblemsInTurn, asked_of, facts, found, require_same
from synthetic import uniform_tsp

import islands
from islands.archipelago.shared import bytes_per_run
from islands.backends import choose
from islands.backends.base import Backend
from islands.configuration.request import Request
from islands.custom.scripts import Trust
from islands.custom.trust import current, within
from islands.engine import queue as queues
from islands.engine.limits import LIMITS
from islands.engine.loading import load_and_resolve
from islands.engine.plan import Plan, Ready
from islands.engine.preparing import Preparing
from islands.engine.queue import Queue
from islands.engine.sharing import SharingRun, places_for
from islands.errors import UsageError
from islands.problems.base import Problem
from islands.progress.result import Result

RANDOM = np.random.default_rng(71)
GA = {"algorithm": "ga", "islands": 2, "population": 8, "migration": "none"}


def tours(count: int, size: int = 12) -> list[Problem]:
    return [
        islands.tsp(each, metric="EUC_2D") for each in RANDOM.integers(0, 999, (count, size, 2))
    ]


def covers(rows: Sequence[int]) -> list[Problem]:
    """Return covers with as many columns and different numbers of rows."""
    every = [[RANDOM.choice(9, 3, replace=False) for _ in range(count)] for count in rows]
    return [islands.models.set_cover([1] * 9, each) for each in every]


CASES: dict[str, tuple[list[Problem], dict[str, Any]]] = {
    # A run with a local search ends in the generation that reaches the limit.
    "evaluations": (
        tours(3),
        {**GA, "improver": "two_opt", "record.every": 20, "stop": "evaluations=400"},
    ),
    "evaluations without a search": (tours(2), {**GA, "stop": "evaluations=75"}),
    "converged": (tours(3), {**GA, "encoding": "permutation", "stop": "converged"}),
    "bound": (tours(2, 6), {**GA, "bound": True, "stop": "generations=9"}),
    "halo": (
        tours(2),
        {"algorithm": "cellular", "islands": 4, "population": 16, "halo": True}
        | {"stop": "generations=9"},
    ),
    "colonies": (
        tours(2),
        {"colonies": [{"islands": 1, "population": 8}, {"islands": 1, "population": 12}]}
        | {"stop": "generations=9"},
    ),
    "sizes of data": (covers([5, 8, 5, 8]), {**GA, "stop": "generations=12"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_each_result_is_that_of_solve(name: str) -> None:
    problems, settings = CASES[name]
    require_same(problems, choose("cpu", 1), **settings)


def test_a_warm_start_is_used(tmp_path: Path) -> None:
    turns, path = np.arange(30) * np.pi / 15, tmp_path / "start.tour"
    problem = islands.tsp(1000 * np.column_stack([np.cos(turns), np.sin(turns)]), metric="EUC_2D")
    best = np.arange(30)
    problem.write_solution(path, best, int(problem.cost(best)))
    settings = {**GA, "start": str(path), "stop": "generations=1"}
    every = found([problem, problem], choose("cpu", 1), **settings)
    assert [each.cost for each in every.values() if isinstance(each, Result)] == [
        problem.cost(best)
    ] * 2


@pytest.mark.parametrize("free", [0, 10**5, 10**7, 10**12])
def test_runs_fit_into_the_free_memory(free: int, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = choose("cpu", 1)
    plan = ProblemsInTurn(tours(1), backend, **GA, stop="generations=1")
    threads = 3
    first = Preparing(plan, backend).ready(0)
    assert isinstance(first, SharingRun)
    monkeypatch.setattr(type(backend), "free_now", lambda _: free)
    places = places_for(first, backend, threads)
    assert (
        places == 1 or places * bytes_per_run(first.parts, first.spec.migration) * threads <= free
    )
    assert places > 1 or free < 10**12


SETTINGS = {"islands": 2, "population": 8, "algorithm": "ga", "stop": "generations=3", "seed": 5}


def written(folder: Path, name: str, seed: int) -> Path:
    path = folder / name
    path.write_text(tsplib_text(uniform_tsp(9, seed)))
    return path


def test_each_has_the_settings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    backend = choose("cpu", 1)
    wanted: list[tuple[str, Problem | None, int | None]] = []
    for number in range(6):
        if number % 2:
            wanted.append((written(tmp_path, f"{number}.tsp", number).name, None, 10 + number))
        else:
            problem = islands.tsp(uniform_tsp(9, number).coordinates, metric="EUC_2D")
            wanted.append((problem.instance, problem, None if number == 2 else 10 + number))

    class Mixed(Plan[int]):
        def request(self, cell: int) -> tuple[Request, Problem | None]:
            name, problem, seed = wanted[cell]
            own = {} if seed is None else {"seed": seed}
            return asked_of({**SETTINGS, "instance": name, **own}, backend), problem

    for order in (range(6), range(6)[::-1]):
        plan = Mixed()
        preparing = Preparing(plan, backend)
        for cell in order:
            name, problem, seed = wanted[cell]
            mine = preparing.ready(cell)
            spec = load_and_resolve(*plan.request(cell)).spec
            assert isinstance(mine, SharingRun)
            assert (mine.spec, mine.spec.stored) == (spec, spec.stored)
            is_path = problem is None
            assert mine.spec.instance == (str(tmp_path / name) if is_path else name)
            assert mine.spec.general.seed == (5 if seed is None else seed)


QUEUED: dict[str, Any] = {"islands": 1, "population": 20, "stop": ["generations=20", "target=9"]}


def tours_in_turn(count: int) -> list[Problem]:
    """Return tours of three sizes in turn."""
    draw = np.random.default_rng(54)
    return [islands.tsp(draw.random(((12, 25, 40)[k % 3], 2)) * 1000) for k in range(count)]


class Watched(ProblemsInTurn):
    """Calls `begins` when a problem begins to be solved alone."""

    shares = False

    def __init__(self, count: int, begins: Callable[[int], None]) -> None:
        super().__init__(tours_in_turn(count), choose("cpu", 1), **QUEUED)
        self._begins = begins

    def alone(self, ready: Ready[int], device: Backend, is_over: Callable[[], bool]) -> Result:
        self._begins(ready.cell)
        return super().alone(ready, device, is_over)


def test_those_solved_alone_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    # As they may need all memory of a GPU, and call functions of a user.
    monkeypatch.setattr(queues, "LIMITS", replace(LIMITS, long_seconds=-1.0))
    active, most = list[int](), list[int]()

    def slowly(number: int) -> None:
        active.append(number)
        most.append(len(active))
        time.sleep(0.02)
        active.remove(number)

    plan = Watched(8, slowly)
    queue = Queue(plan, iter(range(8)), plan.backend, threads=3)
    running = [Thread(target=lambda: [*queue.results(choose("cpu", 1))]) for _ in "abc"]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert (len(most), max(most)) == (8, 1)


class Trusting(ProblemsInTurn):
    """Has the trust of a call, and notes whether results are made with it."""

    def __init__(self, count: int) -> None:
        super().__init__(tours_in_turn(count), choose("cpu", 1), **QUEUED)
        self.trust = Trust()
        self.has_trust = list[bool]()

    def value_of(self, ready: Ready[int], result: Result) -> Result:
        self.has_trust.append(current() is self.trust)
        return result


def test_the_caller_of_a_queue_gets_neither_its_trust_nor_its_limit_of_reading(
    tmp_path: Path,
) -> None:
    plan, own, path = Trusting(2), Trust(), written(tmp_path, "a.tsp", 0)
    ends = list[int]()
    queue = Queue(plan, iter(range(2)), plan.backend, lambda: bool(ends))
    with within(own):
        for number, _ in queue.results(plan.backend):
            ends.append(number)
            assert current() is own
            assert islands.load(path).size == 9
    assert plan.has_trust
    assert all(plan.has_trust)


def test_a_run_that_must_end_early_has_no_result() -> None:
    ends = list[int]()  # as by a signal, so that its search is not complete
    plan = Watched(3, ends.append)
    queue = Queue(plan, iter(range(3)), plan.backend, lambda: bool(ends))
    assert list(queue.results(plan.backend)) == []
    assert ends == [0]


@pytest.mark.slow
def test_a_run_alone_ends_at_once_when_it_must() -> None:
    began = time.perf_counter()
    settings = {**QUEUED, "stop": "seconds=60", "record.every": 10**9}
    plan = ProblemsInTurn(tours_in_turn(1), choose("cpu", 1), **settings)
    plan.shares = False
    queue = Queue(plan, iter([0]), plan.backend, lambda: time.perf_counter() > began + 1)
    assert list(queue.results(plan.backend)) == []
    assert time.perf_counter() < began + 10


@pytest.mark.slow
def test_runs_that_share_launches_end_soon_after_their_time_limit() -> None:
    # The next visit would be far away.
    settings = {**QUEUED, "stop": "seconds=0.5", "record.every": 10**9}
    plan = ProblemsInTurn(tours_in_turn(9)[1::3], choose("cpu", 1), **settings)
    for _, each in Queue(plan, iter(range(3)), plan.backend).results(plan.backend):
        assert 0.5 <= each.seconds < 5


def test_what_the_caller_does_meanwhile_takes_no_time_of_a_run() -> None:
    # Some are over, and yielded, before the last one that shares their launches.
    plan = ProblemsInTurn(tours_in_turn(40)[1::3], choose("cpu", 1), **QUEUED)
    pauses, began, longest = 0.0, time.monotonic(), 0.0
    queue = Queue(plan, iter(range(len(plan.problems))), plan.backend)
    for _, result in queue.results(plan.backend):
        assert isinstance(result, Result)
        longest = max(longest, result.seconds - (time.monotonic() - began - pauses))
        time.sleep(0.05)
        pauses += 0.05
    assert longest <= 0.0


def test_a_kind_whose_places_cannot_be_had_is_solved_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_memory(*_: Any) -> None:
        raise UsageError("the GPU's memory is too little")

    monkeypatch.setattr(queues, "SharedLoop", without_memory)
    problems = tours_in_turn(7)
    found = islands.solve_many(problems, backend="cpu", seed=3, **QUEUED)
    wanted = [islands.solve(each, backend="cpu", threads=1, seed=3, **QUEUED) for each in problems]
    assert [facts(each) for each in found] == [facts(each) for each in wanted]
