"""Archipelagos of colonies, and a check of all their costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from islands.archipelago.archipelago import Archipelago
from islands.backends import choose
from islands.backends.base import Backend
from islands.configuration.resolve import layers, resolve
from islands.configuration.spec import RunSpec
from islands.migration.transport import find
from islands.parallel import World
from islands.problems.base import Problem
from islands.run.build import islands_of

KEYS = "islands=2 algorithm=brkga population=20 elite=0.2 mutants=0.2"
ORDERS = "islands=3 algorithm=ga encoding=permutation population=16"
FREE = "islands=2 algorithm=de population=12 adaptation=jde"
SMALL: dict[str, Any] = {"stop": "generations=9", "improver": "none", "migrants": 2}


def spec_of(problem: Problem, *colonies: str, **options: Any) -> RunSpec:
    own = {"colonies": list(colonies)} if colonies else {}
    return resolve(layers({**SMALL, "migration": "ring", **own, **options}), problem)


def made(
    problem: Problem, *colonies: str, backend: Backend | None = None,
    ranks: World | None = None, **options: Any,
) -> Archipelago:  # fmt: skip
    ranks, backend = ranks or World(), backend or choose("cpu", 1)
    spec = spec_of(problem, *colonies, **options)
    return islands_of(spec, problem, ranks, backend, transport=find(ranks, backend)[0])


def evolved(archipelago: Archipelago, steps: int = 4) -> Archipelago:
    archipelago.start()
    for _ in range(steps):
        archipelago.advance(3)
        archipelago.migrate()
    return archipelago


def require_exact(archipelago: Archipelago, problem: Problem) -> int:
    """Require that all individuals have the cost of their solution; return their number."""
    saved, count = archipelago.snapshot(), 0
    for number, encoding in enumerate(archipelago._encodings):
        if f"{number}.genes" not in saved:  # on other ranks
            continue
        for genes, cost in zip(saved[f"{number}.genes"], saved[f"{number}.cost"], strict=True):
            solutions = problem.from_device(encoding.decode(genes))
            assert encoding.holds(genes)
            assert np.array_equal(problem.device_costs(solutions), cost)
            count += len(cost)
    return count
