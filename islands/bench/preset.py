"""The setting of a published experiment, as benchmarks measure it."""

from __future__ import annotations

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.parallel import World
from islands.problems.base import Problem
from islands.run.build import islands_of
from islands.spec.resolve import layers, resolve


def archipelago(name: str, problem: Problem, backend: Backend, runs: int) -> Archipelago:
    """Return so many runs of a preset side by side, on one rank."""
    spec = resolve(layers({"preset": name}), problem)
    return islands_of(spec, problem, World(), backend, runs=runs)


def evaluations(archipelago: Archipelago) -> int:
    """Return how often it has called the objective."""
    return sum(each.evaluations for each in archipelago.measure())
