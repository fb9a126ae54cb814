from __future__ import annotations

from dataclasses import dataclass

import pytest

from islands.bench import ends as module
from islands.bench.ends import End, TimedArchipelago
from islands.migration import MigrationTimes


class Clock:
    def __init__(self) -> None:
        self.now = 10.0

    def perf_counter(self) -> float:
        return self.now


@dataclass
class Arrived:
    phases: MigrationTimes
    bytes: int = 512


class Slow:
    """An archipelago whose methods advance a test clock by different times."""

    transport = "staged"

    def __init__(self, clock: Clock) -> None:
        self._clock, self._launched = clock, 0.0

    def advance(self, generations: int) -> None:
        self._launched += generations * 0.5

    def wait(self) -> None:
        self._clock.now += self._launched
        self._launched = 0.0

    def migrate(self) -> None:
        self._clock.now += 0.25

    def measure(self) -> str:
        self.wait()
        self._clock.now += 0.125
        return "measures"

    def arrivals(self) -> Arrived:
        return Arrived(MigrationTimes(pack=0.03125, transport=0.125, unpack=0.0625))


def test_an_end_is_the_time_between_generations(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    timed = TimedArchipelago(Slow(clock))  # type: ignore[arg-type]
    for migrates in (True, False, True, True, False):
        timed.advance(2)
        # The loop of a run requests arrivals after it launched the next generations.
        timed.arrivals()
        timed.advance(2)
        if migrates:
            timed.migrate()
        assert timed.measure() == "measures"
    assert timed.transport == "staged"
    whole = 0.25 + 0.125
    phases = {"pack": 0.03125, "transport": 0.125, "unpack": 0.0625, "migrant_bytes": 512}
    # The first end has no previous one; some epochs are measured in two steps.
    assert timed.ends == [
        End(**phases, whole=whole, epoch=2 * 2.0 + 0.125 + whole),
        End(**phases, whole=whole, epoch=2.0 + whole),
    ]


def test_the_time_of_the_host_is_what_remains_of_the_whole() -> None:
    end = End(pack=1, transport=2, unpack=4, whole=16, epoch=99, migrant_bytes=1)
    assert end.host(hides_transport=False) == 9
    assert end.host(hides_transport=True) == 11
