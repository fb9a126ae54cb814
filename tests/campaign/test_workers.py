"""Threads that solve many instances: they take tasks, and end when asked to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from islands.campaign.workers import Workers


def doubled(_: str, tasks: Iterator[int]) -> Callable[[str], Iterator[tuple[int, tuple[str, int]]]]:
    return lambda device: ((task, (device, 2 * task)) for task in tasks)


@pytest.mark.parametrize("on_gpu", [False, True])
def test_each_call_solves_all_of_its_tasks(*, on_gpu: bool) -> None:
    workers = Workers(["a", "b"], on_gpu=on_gpu)
    for tasks in (range(3000), range(30, 40)):
        found = dict(filter(None, workers.stream(tasks, doubled)))
        assert {task: value for task, (_, value) in found.items()} == {t: 2 * t for t in tasks}
        assert {device for device, _ in found.values()} <= {"a", "b"}


def test_no_task_begins_when_it_is_over() -> None:
    workers = Workers(["a"], on_gpu=False)
    found = filter(None, workers.stream(iter(int, 1), doubled, is_over=lambda: True))
    assert len([*found]) < 10
    assert workers.ends.is_set()


@pytest.mark.parametrize("stops", [False, True])
def test_what_is_done_when_it_is_over_is_kept_unless_the_caller_has_stopped(*, stops: bool) -> None:
    workers, left = Workers(["a"], on_gpu=False), list[int]()

    def after_all(_: str, tasks: Iterator[int]) -> Callable[[str], Iterator[tuple[int, int]]]:
        return lambda _: waiting(tasks)

    def waiting(tasks: Iterator[int]) -> Iterator[tuple[int, int]]:
        yield next(tasks), 0
        workers.ends.wait()
        for task in range(1, 9):
            yield task, 0
        left.extend(tasks)

    found = list[int]()
    done = workers.stream(range(20), after_all, is_over=lambda: bool(found))
    for task, _ in filter(None, done):
        found.append(task)
        if stops:
            break
    done.close()
    assert found == ([0] if stops else [*range(9)])
    assert left == []
