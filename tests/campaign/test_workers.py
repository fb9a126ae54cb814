"""Threads that solve many instances: they take tasks, and end when asked to."""

from __future__ import annotations

from collections.abc import Iterator

from islands.campaign.workers import Workers


def doubled(device: str, tasks: Iterator[int]) -> Iterator[tuple[int, tuple[str, int]]]:
    for task in tasks:
        yield task, (device, 2 * task)


def test_each_call_solves_all_of_its_tasks() -> None:
    workers = Workers(["a", "b"])
    for tasks in (range(30), range(30, 40)):
        found = dict(workers.stream(tasks, doubled))
        assert {task: value for task, (_, value) in found.items()} == {t: 2 * t for t in tasks}
        assert {device for device, _ in found.values()} <= {"a", "b"}


def test_no_task_begins_when_it_is_over() -> None:
    workers = Workers(["a"])
    assert len(list(workers.stream(iter(int, 1), doubled, is_over=lambda: True))) < 10
    assert workers.ends.is_set()
