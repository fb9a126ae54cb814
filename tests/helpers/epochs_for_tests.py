"""Runs of fake islands, from epoch to epoch."""

from __future__ import annotations

from typing import Any

import pytest
from fakes import FakeArchipelago, FakeProblem, Quiet

from islands.configuration.resolve import layers, resolve
from islands.parallel import World
from islands.progress.progress import Epoch, Moment, Outcome
from islands.run import loop as module
from islands.run.loop import Loop, Viewer


def run(
    options: dict[str, Any],
    problem: FakeProblem,
    interruption: Any = Quiet,
    archipelago: FakeArchipelago | None = None,
    viewer: Viewer | None = None,
) -> tuple[Outcome, FakeArchipelago, list[Epoch]]:
    archipelago, epochs = archipelago or FakeArchipelago(), list[Epoch]()
    spec = resolve(layers(options), problem)
    loop = Loop(
        archipelago,  # type: ignore[arg-type]
        *(spec, problem, World(), interruption),
        watch=epochs.append,
        viewer=viewer,
    )
    outcome = loop.run()
    return outcome, archipelago, epochs


class Slow(FakeArchipelago):
    """Fake islands whose generations take a given time on a fake clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> None:
        super().__init__()
        self.now, self.seconds = 5.0, seconds
        monkeypatch.setattr(module.time, "perf_counter", lambda: self.now)

    def start(self) -> None:
        super().start()
        self.now += self.seconds

    def advance(self, generations: int) -> None:
        super().advance(generations)
        self.now += generations * self.seconds


def resumed(
    options: dict[str, Any], archipelago: FakeArchipelago, origin: Moment, interruption: Any = Quiet
) -> tuple[Outcome, list[Epoch], list[Moment]]:
    """Resume from a checkpoint; return the outcome, and the epochs and checkpoints that follow."""
    archipelago.generation, epochs, kept = origin.generation, list[Epoch](), list[Moment]()
    spec = resolve(layers(options), FakeProblem())
    loop = Loop(
        archipelago,  # type: ignore[arg-type]
        *(spec, FakeProblem(), World(), interruption),
        watch=epochs.append,
        keep=kept.append,
        origin=origin,
    )
    return loop.run(), epochs, kept
