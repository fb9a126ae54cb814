"""Whether a population is large enough for its algorithm and for migration."""

from __future__ import annotations

from islands.algorithms import Algorithm
from islands.migration import TOPOLOGIES, MigrationSettings, migrates
from islands.migration.base import require_room
from islands.migration.halo import require_slices


def fixed(algorithm: Algorithm) -> int:
    """Return the number of best individuals of an island that migrants never replace."""
    return max(1, algorithm.kept())


def require_fit(
    algorithm: Algorithm,
    population: int,
    migration: MigrationSettings,
    *,
    islands: int,
    seed: int,
    runs: int = 1,
) -> None:
    """Refuse a population that is too small for the algorithm or the migrants.

    There are `islands` in each of the concurrent `runs`, the first of which has this `seed`.
    """
    algorithm.require_islands(islands)
    if algorithm.halo:
        require_slices(algorithm.halo, population, migration, islands, runs)
    if migrates(migration, islands):
        topology = TOPOLOGIES[migration.topology]
        require_room(
            migration,
            islands=islands,
            sources=max(topology.widest(islands, seed + run) for run in range(runs)),
            population=population,
            fixed=fixed(algorithm),
        )
