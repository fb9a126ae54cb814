"""Several threads take instances of a queue, each those of another kind."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest
from shared_launches import facts, options

import islands
from islands.backends import choose
from islands.backends.base import Backend
from islands.errors import IslandsError
from islands.problems.base import Problem
from islands.progress.result import Result
from islands.run import queue as queues
from islands.run.preparing import Preparing, Wanted
from islands.run.queue import Queue
from islands.run.shared import Sharing
from islands.run.waiting import Waiting

SETTINGS: dict[str, Any] = {"islands": 1, "population": 20, "stop": "generations=20"}
SIZES = (12, 25, 40)


def tours(count: int) -> list[Problem]:
    """Return tours of three sizes in turn, after one of a size of its own."""
    draw = np.random.default_rng(54)
    sizes = [17, *(SIZES[k % 3] for k in range(count - 1))]
    return [islands.tsp(draw.random((size, 2)) * 1000) for size in sizes]


def alone(problems: list[Problem], number: int) -> Result:
    return islands.solve(problems[number], backend="cpu", threads=1, seed=number, **SETTINGS)


def queue_of(problems: list[Problem], keys: Iterator[int | None]) -> Queue[int]:
    backend = choose("cpu", 1)
    preparing = Preparing(
        backend, lambda wanted: options({**SETTINGS, "seed": wanted.seed}, backend)
    )

    def prepare(number: int) -> Waiting[int] | None:
        own = problems[number]
        return preparing.waiting(number, Wanted(own.instance, own, number))

    return Queue(keys, prepare)


class Noted(Sharing[int]):
    """Notes the places each time that a kind begins."""

    all_places: list[int]
    meeting: Barrier | None
    """Where the first kinds wait until as many are in progress."""

    def __init__(self, first: Waiting[int], places: int, backend: Backend) -> None:
        super().__init__(first, places, backend)
        if self.meeting is not None and len(self.all_places) < self.meeting.parties:
            self.meeting.wait(100)
        self.all_places.append(self.places)


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> type[Noted]:
    Noted.all_places, Noted.meeting = [], None
    monkeypatch.setattr(queues, "Sharing", Noted)
    return Noted


def test_threads_solve_different_kinds(noted: type[Noted]) -> None:
    noted.meeting, problems = Barrier(2), tours(40)
    queue, found = queue_of(problems, iter(range(40))), dict[int, Result | IslandsError]()

    def solve() -> None:
        for number, result in queue.results(choose("cpu", 1), lambda k: alone(problems, k)):
            assert number not in found
            found[number] = result

    threads = [Thread(target=solve) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(noted.all_places) == len(SIZES)
    assert sorted(found) == [*range(40)]
    for number, result in found.items():
        assert facts(result) == facts(alone(problems, number))


def test_a_kind_of_which_many_come_later_begins_again_with_more_places(noted: type[Noted]) -> None:
    problems = [problem for problem in tours(40) if problem.size == SIZES[0]]
    is_known = False

    def keys() -> Iterator[int | None]:
        for number in range(len(problems)):
            yield number
            while number == 1 and not is_known:
                yield None

    queue, found = queue_of(problems, keys()), dict[int, Result | IslandsError]()
    for number, result in queue.results(choose("cpu", 1), lambda k: alone(problems, k)):
        found[number] = result
        if not is_known:
            is_known = True
            assert queue._begun(choose("cpu", 1)) is None  # as another thread looks for a kind
    assert noted.all_places[0] == 2
    assert noted.all_places[1] > 2
    for number, result in found.items():
        assert facts(result) == facts(alone(problems, number))
    assert len(found) == len(problems)
