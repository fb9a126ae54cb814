"""Launches that take too long are halted, and none is much longer than is known to be safe."""

from __future__ import annotations

import time
from threading import Event
from types import SimpleNamespace

import pytest

from islands.run import halting
from islands.run.halting import Watch

LATE = 4.0
"""Seconds after which a launch that takes long must be over: users wait for the end of a run."""


@pytest.mark.slow
def test_a_launch_that_takes_long_is_halted() -> None:
    halted = Event()
    watch, began = Watch(halted.set), time.monotonic()
    with watch.until(lambda: False), watch.working():
        assert halted.wait(LATE)
    assert watch.has_halted
    assert time.monotonic() - began > 0.5, "a usual launch ends by itself"


def test_a_launch_that_must_end_is_halted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(halting, "_LONGEST", 1e9)
    halted = Event()
    watch = Watch(halted.set)
    with watch.until(lambda: True), watch.working():
        assert halted.wait(LATE)
    assert watch.has_halted


def test_the_host_is_not_halted_between_launches() -> None:
    halted = Event()
    watch = Watch(halted.set)
    with watch.until(lambda: True):
        with watch.working():
            pass
        assert not halted.wait(0.3)
    assert not watch.has_halted


@pytest.mark.parametrize("seconds", [1e-6, 0.01, 0.3, 5.0])
def test_the_next_launch_is_short_by_what_is_known(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each generation takes these seconds: launches grow step by step, up to half a second."""
    now = 0.0
    monkeypatch.setattr(halting, "time", SimpleNamespace(perf_counter=lambda: now))
    watch = Watch(lambda: None)
    for _ in range(12):
        before = watch.generations
        with watch.working():
            now += before * seconds
        watch.has_made(before)
        assert 1 <= watch.generations <= 4 * before
        assert watch.generations == 1 or watch.generations * seconds <= 0.5
    assert watch.generations > 1 or seconds > 0.1
