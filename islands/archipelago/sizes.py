"""Limits on the size of a run: what kernels can count, and the memory of a rank.

They are checked before any array of the islands exists. Limits that depend neither on the ranks
nor on the device are part of the settings.
"""

from collections.abc import Sequence

from islands.archipelago import messages
from islands.archipelago.colonies import MOST_INDIVIDUALS
from islands.archipelago.parts import ProgramParts
from islands.backends.base import Backend
from islands.migration import MigrantLayout, migrates
from islands.migration.settings import MigrationSettings
from islands.migration.topology import TOPOLOGIES
from islands.parallel import Deal

_ARRIVAL = 2 * 16 + 4
"""Bytes for an arriving migrant: its record on device and host, and the slot that it comes from."""
_ROUTE = 4 * 8
"""Bytes on the host for planning the route from one island to another."""


def require_countable(islands: int, population: int, ranks: int) -> None:
    """Reject more individuals on this rank, with this number of islands, than kernels can count."""
    if islands * population > MOST_INDIVIDUALS:
        raise messages.too_many_individuals(islands, population, ranks, MOST_INDIVIDUALS)


def require_memory(
    backend: Backend,
    colonies: Sequence[ProgramParts],
    migration: MigrationSettings,
    layout: MigrantLayout,
    *,
    seed: int,
    deal: Deal,
) -> None:
    """Reject islands of this rank that need more memory than its device has.

    `colonies` are those with islands on this rank.
    """
    needed = bytes_needed(backend, colonies, migration, layout, (deal.islands, seed))
    if backend.free is None or needed <= backend.free:
        return
    sizes = [(parts.shape.islands, parts.shape.population) for parts in colonies]
    raise messages.too_little_memory(sizes, needed, backend.free, backend, deal)


def bytes_needed(
    backend: Backend,
    colonies: Sequence[ProgramParts],
    migration: MigrationSettings,
    layout: MigrantLayout,
    size: tuple[int, int],
) -> int:
    """Return the minimum number of bytes for the islands of this rank, of all colonies.

    `size` is the number of islands of the run, and its seed.
    """
    is_kept = backend.in_host_memory or any(
        parts.outside or parts.improver.name != "none" for parts in colonies
    )
    needed = sum(bytes_of_islands(parts, is_kept=is_kept) for parts in colonies)
    needed += backend.threads * max(_scratch_bytes(parts) for parts in colonies)
    if migrates(migration, size[0]):
        islands = sum(parts.shape.islands for parts in colonies)
        route = TOPOLOGIES[migration.topology].widest(*size) * _ROUTE
        needed += islands * bytes_of_migrants(migration, layout, *size)
        needed += islands * route if backend.in_host_memory else 0
    return needed


def bytes_of_migrants(
    migration: MigrationSettings, layout: MigrantLayout, islands: int, seed: int
) -> int:
    """Return the bytes for the leaving and arriving migrants of an island."""
    arriving = TOPOLOGIES[migration.topology].widest(islands, seed) * migration.migrants
    return migration.migrants * layout.bytes + arriving * _ARRIVAL


def bytes_of_islands(parts: ProgramParts, *, is_kept: bool = False) -> int:
    """Return the bytes of all arrays; if `is_kept`, with copies to undo generations."""
    return parts.shape.islands * sum(
        field.island_bytes * (1 + field.in_halves + (is_kept and field.kind == "kept"))
        for field in parts.fields.values()
    )


def _scratch_bytes(parts: ProgramParts) -> int:
    """Return the bytes of scratch memory that a block needs to sort, or for one of its parts."""
    declared = [launch.room or 0 for launch in parts.schedule.launches()]
    return max(12 << (parts.shape.population - 1).bit_length(), parts.room(), *declared)
