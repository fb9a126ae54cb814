"""Check that a configuration is valid, with the checks that creating its islands makes."""

from __future__ import annotations

from islands.archipelago.parts import Parts
from islands.backends.base import Backend
from islands.migration import Exchange
from islands.migration.halo import require_fit
from islands.parallel import World
from islands.problems.base import Problem
from islands.spec.spec import RunSpec


def require_possible(spec: RunSpec, problem: Problem, backend: Backend) -> None:
    """Refuse settings that contradict each other or the size of a population, without compiling.

    A lack of device memory appears only when a run allocates it.
    """
    general, problem = spec.general, problem.adjusted(spec.problem)
    islands, population = general.islands, general.population
    algorithm = Parts.of(
        problem,
        spec.algorithm,
        spec.encoding,
        spec.settings,
        spec.improver,
        population=population,
        block_memory=backend.block_memory,
        decoding=general.decoding,
    ).algorithm
    algorithm.require_islands(islands)
    Exchange(
        spec.migration,
        backend,
        World(),
        None,
        islands=islands,
        population=population,
        kept=algorithm.kept(),
        seed=general.seed,
    )
    if algorithm.halo:
        require_fit(algorithm.halo, population, spec.migration, islands, runs=1)
