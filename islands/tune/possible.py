"""Check that a configuration is valid, with the checks that creating its islands makes."""

from __future__ import annotations

from islands.archipelago.parts import Parts
from islands.backends.base import Backend
from islands.problems.base import Problem
from islands.spec.fit import require_population
from islands.spec.spec import RunSpec


def require_possible(spec: RunSpec, problem: Problem, backend: Backend) -> None:
    """Refuse settings that contradict each other or the size of a population, without compiling.

    A lack of device memory appears only when a run allocates it.
    """
    algorithm = Parts.of(
        problem.adjusted(spec.problem),
        spec.algorithm,
        spec.encoding,
        spec.settings,
        spec.improver,
        population=spec.general.population,
        block_memory=backend.block_memory,
        decoding=spec.general.decoding,
    ).algorithm
    require_population(spec, algorithm)
