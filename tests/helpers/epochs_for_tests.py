"""Runs of fake islands, from epoch to epoch."""

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
    archipelago: FakeArchipelago | None = None,
    others: Sequence[Observer] = (),
    origin: Moment | None = None,
) -> tuple[Outcome, list[Epoch]]:
    """Return the outcome and the epochs of a run on one rank."""
    archipelago, seen = archipelago or FakeArchipelago(), Seen()
    whole: Any = (archipelago, resolve(Request.of(options), FakeProblem()), World(), Quiet)
    return Loop(*whole, [seen, *others], origin=origin).run(), seen.epochs


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
    options: dict[str, Any], archipelago: FakeArchipelago, origin: Moment
) -> tuple[Outcome, list[Epoch], list[Moment]]:
    """Resume from a checkpoint; return the outcome, and the epochs and checkpoints that follow."""
    archipelago.generation = origin.generation
    kept, failures = list[Moment](), Failures(World(), None, Quiet)
    every = resolve(Request.of(options), FakeProblem()).spec.checkpoint.every
    checkpoints: Any = SimpleNamespace(keep=kept.append)
    checkpointing = Checkpointing(checkpoints, Silent(), failures, every, origin)
    return *run(options, archipelago, [checkpointing], origin), kept
