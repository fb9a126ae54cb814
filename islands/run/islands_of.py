"""The islands that a run's specification asks for, on the device of this rank."""

from __future__ import annotations

from typing import Any

from islands.archipelago.archipelago import Archipelago
from islands.backends.base import Backend
from islands.parallel import World
from islands.problems.base import Problem
from islands.spec.spec import RunSpec


def islands_of(
    spec: RunSpec, problem: Problem, world: World, backend: Backend, **conduct: Any
) -> Archipelago:
    """Return this rank's islands; `conduct` is what `Archipelago` takes that no setting says."""
    return Archipelago(
        problem=problem.adjusted(spec.problem),
        algorithm=spec.algorithm,
        encoding=spec.encoding,
        settings=spec.settings,
        improver=spec.improver,
        population=spec.general.population,
        islands=spec.general.islands,
        seed=spec.general.seed,
        decoding=spec.general.decoding,
        migration=spec.migration,
        backend=backend,
        world=world,
        **conduct,
    )
