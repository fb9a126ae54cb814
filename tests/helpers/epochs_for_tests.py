"""Runs of fake islands, from epoch to epoch."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from fakes import FakeArchipelago, FakeProblem, Quiet, Silent

from islands.configuration.request import Request
from islands.configuration.resolve import resolve
from islands.engine import loop as module
from islands.engine.failures import Failures
from islands.engine.loop import Loop
from islands.engine.observers import Checkpointing, Observer
from islands.parallel import World
from islands.progress.progress import Epoch, Moment, Outcome


def run(
    options: dict[str, Any],
    problem: FakeProblem,
    interruption: Any = Quiet,
    archipelago: FakeArchipelago | None = None,
    others: Sequence[Observer] = (),
) -> tuple[Outcome, FakeArchipelago, list[Epoch]]:
    archipelago, seen = archipelago or FakeArchipelago(), Seen()
    resolved = resolve(Request.of(options), problem)
    loop = Loop(
        archipelago,  # type: ignore[arg-type]
        *(resolved, World(), interruption),
        [seen, *others],
    )
    outcome = loop.run()
    return outcome, archipelago, seen.epochs


class Seen(Observer):
    """Collects the epochs of a run, and the generations seen between them."""

    sees_between = True

    def __init__(self) -> None:
        self.epochs, self.between_epochs = list[Epoch](), list[int]()

    def epoch(self, epoch: Epoch) -> None:
        self.epochs.append(epoch)

    def between(self, epoch: Epoch) -> None:
        self.between_epochs.append(epoch.progress.generation)


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
    archipelago.generation = origin.generation
    resolved = resolve(Request.of(options), FakeProblem())
    seen, kept = Seen(), list[Moment]()
    failures = Failures(World(), None, interruption)
    checkpoints = SimpleNamespace(keep=kept.append)
    screen = Silent()
    every = resolved.spec.checkpoint.every
    checkpointing = Checkpointing(checkpoints, screen, failures, every, origin)  # type: ignore[arg-type]
    loop = Loop(
        archipelago,  # type: ignore[arg-type]
        *(resolved, World(), interruption),
        [seen, checkpointing],
        origin=origin,
    )
    return loop.run(), seen.epochs, kept
