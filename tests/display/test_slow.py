"""A run reports the progress of long generations."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest
from epochs_for_tests import Slow as SlowArchipelago
from epochs_for_tests import run as evolved
from fakes import FakeArchipelago, FakeProblem, Silent

from islands.configuration.resolve import layers, resolve
from islands.display.messages import Slow
from islands.progress.progress import Progress


class AtWork(FakeArchipelago):
    """Islands with a given number of completed individuals."""

    is_on_cpu = True

    def made(self) -> int:
        """Return the number of completed individuals."""
        return 31


def slow(islands: AtWork, clock: SimpleNamespace, monkeypatch: Any, **options: Any) -> Slow:
    tick = SimpleNamespace(perf_counter=lambda: clock.now)
    monkeypatch.setattr("islands.display.messages.time", tick)
    spec = resolve(layers({"islands": 2, "population": 256, **options}), FakeProblem())
    return Slow(islands, spec, clock.said.append, "function= of mine")  # type: ignore[arg-type]


def test_a_generation_of_more_than_five_seconds_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, islands = SimpleNamespace(now=100.0, said=[]), AtWork()
    looks = slow(islands, clock, monkeypatch)
    for now in (100, 107):
        clock.now = now
        looks.look()  # no generation is running
    islands.ahead = range(2, 3)
    for now in (108, 112.9, 113, 114, 118):
        clock.now = now
        looks.look()
    assert clock.said == [
        "  generation 2, 31 of 512 individuals after 5 s. To shorten it: a smaller"
        " --population, or a GPU",
        "  generation 2, 31 of 512 individuals after 10 s",
    ]
    islands.ahead = range(3, 5)
    for now in (119, 124):
        clock.now = now
        looks.look()
    assert clock.said[2:] == ["  generations 3 to 4 after 5 s"]


def test_a_generation_that_completes_meanwhile_is_not_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class JustDone(AtWork):
        """Completes its generation during the call."""

        def made(self) -> int:
            self.ahead = range(0)
            return 512

    clock, islands = SimpleNamespace(now=0.0, said=[]), JustDone()
    looks = slow(islands, clock, monkeypatch)
    islands.ahead = range(2, 3)
    for clock.now in (1.0, 6.5):
        looks.look()
    assert clock.said == []


def test_an_evaluation_that_does_not_return_is_reported_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock, islands = SimpleNamespace(now=0.0, said=[]), AtWork()
    looks = slow(islands, clock, monkeypatch)
    islands.ahead = range(1)
    said = dict[float, str]()
    for clock.now in (0.0, 6.0, 7.0, 8.0, 9.0, 11.0, 14.0, 20.0):
        looks.look(is_over=clock.now > 6 and clock.now != 8)
        said[clock.now] = capsys.readouterr().err
    assert [now for now, words in said.items() if words] == [14.0]  # also if the run is quiet
    assert "should have ended 5 s ago, but waits for function= of mine" in said[14.0]
    assert f"kill -9 {os.getpid()}" in said[14.0]
    assert "islands check" in said[14.0]


def test_rank_0_reports_its_own_islands_and_gives_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, islands = SimpleNamespace(now=0.0, said=[]), AtWork(range(1))
    islands.is_on_cpu = False
    looks = slow(islands, clock, monkeypatch, improver="two_opt")
    islands.ahead = range(1)
    for clock.now in (1.0, 6.5):
        looks.look()
    assert clock.said == [
        "  generation 0, 31 of 256 individuals of rank 0 after 6 s. To shorten it: a"
        " smaller --population, a smaller improver.rate, fewer improver.steps, or more GPUs"
    ]


def test_progress_is_shown_between_distant_visits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Seen(Silent):
        """Collects the progress."""

        def show(self, progress: Progress) -> None:
            shown.append(progress)

    shown: list[Progress] = []
    options = {"stop": "generations=20", "record.every": 20}
    plain = evolved(options, FakeProblem(), archipelago=SlowArchipelago(monkeypatch, seconds=0.5))
    viewed = evolved(
        options,
        FakeProblem(),
        archipelago=SlowArchipelago(monkeypatch, seconds=0.5),
        viewer=Seen(),
    )
    assert [each.generation for each in shown] == [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    assert [each.cost for each in shown] == [1000 - each.generation for each in shown]
    assert viewed[2] == plain[2]
