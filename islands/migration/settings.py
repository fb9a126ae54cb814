"""The settings of migration, and whether a population is large enough for it."""

from dataclasses import dataclass

from islands.algorithms.base import Algorithm
from islands.errors import UsageError
from islands.migration import messages
from islands.migration.topology import TOPOLOGIES
from islands.settings import Settings, setting

SELECTIONS = ("best", "random", "roulette")
REPLACEMENTS = ("worst", "random", "if-better")
DUPLICATES = ("accept", "reject")


@dataclass(frozen=True)
class MigrationSettings(Settings):
    """The settings of migration."""

    topology: str = setting("elite", "which islands send migrants to which", choices=TOPOLOGIES)
    interval: int = setting(100, "generations between two migrations", low=1)
    migrants: int = setting(2, "individuals that each island sends per migration", low=1)
    selection: str = setting(
        "best", "which individuals emigrate; roulette favours low costs", choices=SELECTIONS
    )
    replacement: str = setting(
        "worst",
        "which individuals immigrants replace; if-better: the worst, if the immigrant is better;"
        " elite individuals are never replaced",
        choices=REPLACEMENTS,
    )
    duplicates: str = setting(
        "accept",
        "whether to accept or reject a migrant that the island already contains",
        choices=DUPLICATES,
    )
    delay: int = setting(
        0,
        "number of migrations until migrants arrive; 1: they travel while the islands evolve",
        low=0,
        high=1,
    )


def migrates(settings: MigrationSettings, islands: int) -> bool:
    """Return whether a run with this number of islands migrates at all."""
    return settings.topology != "none" and islands > 1


def fixed(algorithm: Algorithm) -> int:
    """Return the number of best individuals of an island that migrants never replace."""
    return max(1, algorithm.kept())


def require_fit(
    algorithm: Algorithm,
    population: int,
    migration: MigrationSettings,
    islands: int,
    seed: int,
) -> None:
    """Reject a population that is too small for the algorithm or the migrants."""
    algorithm.require_islands(islands)
    if algorithm.halo:
        _require_slices(algorithm.halo, population, migration, islands)
    if not migrates(migration, islands):
        return
    migrants, topology = migration.migrants, TOPOLOGIES[migration.topology]
    if migrants > population:
        raise UsageError(
            f"migrants={migrants}: must be at most population={population}. Lower it, or raise"
            " population"
        )
    sources = topology.widest(islands, seed)
    replaceable = population - fixed(algorithm)
    if sources * migrants > replaceable:
        raise messages.too_many_arrivals(
            topology=migration.topology,
            migrants=migrants,
            sources=sources,
            islands=islands,
            population=population,
            replaceable=replaceable,
            hint=topology.hint,
        )


def _require_slices(
    reach: int, population: int, migration: MigrationSettings, islands: int
) -> None:
    """Reject migration, and slices that are too small for the halo."""
    if reach > population:
        raise messages.too_small_slice(population, reach)
    if migrates(migration, islands):
        raise messages.slices_that_migrate(migration.topology)
