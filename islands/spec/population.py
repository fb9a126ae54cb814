"""Check that a population is large enough, from its numbers alone."""

from __future__ import annotations

from islands.algorithms.base import Algorithm
from islands.errors import UsageError
from islands.migration import TOPOLOGIES, migrates
from islands.migration.base import require_room
from islands.migration.halo import require_fit
from islands.spec.spec import RunSpec
from islands.text import counted


def require_population(spec: RunSpec, algorithm: Algorithm) -> None:
    """Refuse a population that is too small for the algorithm, the migrants or the start."""
    general, migration = spec.general, spec.migration
    islands, population = general.islands, general.population
    algorithm.require_islands(islands)
    if algorithm.halo:
        require_fit(algorithm.halo, population, migration, islands, runs=1)
    if migrates(migration, islands):
        require_room(
            migration,
            islands=islands,
            sources=TOPOLOGIES[migration.topology].widest(islands, general.seed),
            population=population,
            fixed=max(1, algorithm.kept()),
        )
    if len(spec.start) > islands * population:
        raise UsageError(
            f"{counted(len(spec.start), 'start solution')}: {counted(islands, 'island')} of"
            f" population={population} hold {islands * population}. Name fewer, or raise population"
        )
