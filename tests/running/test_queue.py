"""Several threads take instances of a queue, each those of another kind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from threading import Thread
from typing import Any

import numpy as np
import pytest
from shared_launches import facts, options

import islands
from islands.backends import choose
from islands.errors import IslandsError, UsageError
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.run import queue as queues
from islands.run.preparing import Preparing, Wanted
from islands.run.queue import Queue
from islands.run.waiting import Waiting

SETTINGS: dict[str, Any] = {"islands": 1, "population": 20}
SETTINGS["stop"] = ["generations=20", "target=9"]
SIZES = (12, 25, 40)


def tours(count: int) -> list[Problem]:
    """Return tours of three sizes in turn, after one of a size of its own."""
    draw = np.random.default_rng(54)
    sizes = [17, *(SIZES[k % 3] for k in range(count - 1))]
    return [islands.tsp(draw.random((size, 2)) * 1000) for size in sizes]


def alone(problems: list[Problem], number: int) -> Result:
    return islands.solve(problems[number], backend="cpu", threads=1, seed=number, **SETTINGS)


def queue_of(problems: list[Problem], keys: Iterator[int | None], threads: int = 1) -> Queue[int]:
    backend = choose("cpu", 1)
    preparing = Preparing(
        backend, lambda wanted: options({**SETTINGS, "seed": wanted.seed}, backend)
    )

    def prepare(number: int) -> Waiting[int] | None:
        own = problems[number]
        return preparing.waiting(number, Wanted(own.instance, own, number))

    return Queue(keys, prepare, threads=threads)


def solved_by_threads(queue: Queue[int], problems: list[Problem], threads: int) -> dict[int, Any]:
    """Return the results of a queue, each made once."""
    found, twice = dict[int, Result | IslandsError](), list[int]()

    def solve() -> None:
        for number, result in queue.results(choose("cpu", 1), lambda k: alone(problems, k)):
            if number in found:
                twice.append(number)
            found[number] = result

    running = [Thread(target=solve) for _ in range(threads)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert not twice
    return found


def test_threads_solve_different_kinds() -> None:
    problems = tours(40)
    found = solved_by_threads(queue_of(problems, iter(range(40)), 3), problems, 3)
    assert sorted(found) == [*range(40)]
    for number, result in found.items():
        assert facts(result) == facts(alone(problems, number))


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
        return alone(problems, number)

    running = [Thread(target=lambda: [*queue.results(choose("cpu", 1), slowly)]) for _ in "abc"]
    for each in running:
        each.start()
    for each in running:
        each.join()
    assert len(most) == 8
    assert max(most) == 1


def test_a_run_that_must_end_early_has_no_result() -> None:
    problems, ends = tours(3), list[int]()

    def ended(number: int) -> Result:
        ends.append(number)  # as by a signal, so that its search is not complete
        return alone(problems, number)

    queue = Queue(iter(range(3)), lambda _: None, lambda: bool(ends))
    assert list(queue.results(choose("cpu", 1), ended)) == []
    assert ends == [0]


def test_what_the_caller_does_meanwhile_takes_no_time_of_a_run() -> None:
    # Some are over, and yielded, before the last one that shares their launches.
    problems, pauses = tours(1) + tours(40)[1::3], 0.0
    began, longest = time.monotonic(), 0.0
    for _, result in queue_of(problems, iter(range(1, len(problems)))).results(
        choose("cpu", 1), lambda number: alone(problems, number)
    ):
        assert isinstance(result, Result)
        longest = max(longest, result.seconds - (time.monotonic() - began - pauses))
        time.sleep(0.05)
        pauses += 0.05
    assert longest <= 0.0


def test_those_solved_alone_and_failures_do_not_wait_for_kinds() -> None:
    problems = tours(90)
    queue = queue_of(problems, iter(range(90)), 2)
    prepare = queue._prepare

    def some(number: int) -> Waiting[int] | None:
        if number == 20:
            raise UsageError("too heavy")
        return None if number % 10 == 7 else prepare(number)

    queue._prepare = some
    found = [*queue.results(choose("cpu", 1), lambda k: alone(problems, k))]
    places = {number: place for place, (number, _) in enumerate(found)}
    assert sorted(places) == [*range(90)]
    assert isinstance(found[places[20]][1], UsageError)
    assert max(places[20], places[7]) < 45


def test_a_kind_whose_places_cannot_be_had_is_solved_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_memory(*_: Any) -> None:
        raise UsageError("the GPU's memory is too little")

    monkeypatch.setattr(queues, "Sharing", without_memory)
    problems = tours(7)
    found = dict(
        queue_of(problems, iter(range(7))).results(
            choose("cpu", 1), lambda number: alone(problems, number)
        )
    )
    for number, problem in enumerate(problems):
        assert facts(found[number]) == facts(alone(problems, number)), problem
