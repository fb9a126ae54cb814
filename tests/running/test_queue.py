"""Several threads take instances of a queue, each those of another kind."""

from __future__ import annotations

import time
from threading import Thread
from typing import Any

import numpy as np
import pytest
from shared_launches import facts, options

import islands
from islands.backends import choose
from islands.errors import UsageError
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.run import queue as queues
from islands.run.preparing import Preparing, Wanted
from islands.run.queue import Queue

SETTINGS: dict[str, Any] = {"islands": 1, "population": 20, "stop": ["generations=20", "target=9"]}


def tours(count: int) -> list[Problem]:
    """Return tours of three sizes in turn."""
    draw = np.random.default_rng(54)
    return [islands.tsp(draw.random(((12, 25, 40)[k % 3], 2)) * 1000) for k in range(count)]


def alone(problem: Problem, number: int) -> Result:
    return islands.solve(problem, backend="cpu", threads=1, seed=number, **SETTINGS)


def test_those_solved_alone_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    # As they may need all memory of a GPU, and call functions of a user.
    monkeypatch.setattr(queues, "_LONG_SECONDS", -1.0)
    problems, active, most = tours(8), list[int](), list[int]()
    queue = Queue(iter(range(8)), lambda _: None, threads=3)

    def slowly(number: int) -> Result:
        active.append(number)
        most.append(len(active))
        time.sleep(0.02)
        active.remove(number)
        return alone(problems[number], number)

    running = [Thread(target=lambda: [*queue.results(choose("cpu", 1), slowly)]) for _ in "abc"]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert (len(most), max(most)) == (8, 1)


def test_a_run_that_must_end_early_has_no_result() -> None:
    problems, ends = tours(3), list[int]()

    def ended(number: int) -> Result:
        ends.append(number)  # as by a signal, so that its search is not complete
        return alone(problems[number], number)

    queue = Queue(iter(range(3)), lambda _: None, lambda: bool(ends))
    assert list(queue.results(choose("cpu", 1), ended)) == []
    assert ends == [0]


def test_what_the_caller_does_meanwhile_takes_no_time_of_a_run() -> None:
    # Some are over, and yielded, before the last one that shares their launches.
    problems, backend = tours(40)[1::3], choose("cpu", 1)
    preparing = Preparing(backend, lambda own: options({**SETTINGS, "seed": own.seed}, backend))

    def prepare(number: int) -> Any:
        return preparing.waiting(number, Wanted("own", problems[number], number))

    pauses, began, longest = 0.0, time.monotonic(), 0.0
    queue = Queue(iter(range(len(problems))), prepare, threads=1)
    for _, result in queue.results(backend, lambda number: alone(problems[number], number)):
        assert isinstance(result, Result)
        longest = max(longest, result.seconds - (time.monotonic() - began - pauses))
        time.sleep(0.05)
        pauses += 0.05
    assert longest <= 0.0


def test_a_kind_whose_places_cannot_be_had_is_solved_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_memory(*_: Any) -> None:
        raise UsageError("the GPU's memory is too little")

    monkeypatch.setattr(queues, "Sharing", without_memory)
    problems = tours(7)
    found = islands.solve_many(problems, backend="cpu", seed=3, **SETTINGS)
    assert [facts(each) for each in found] == [facts(alone(each, 3)) for each in problems]
