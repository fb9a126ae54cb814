"""The sizes of a run: what kernels can count, and the memory that the islands of a rank need.

Sizes are refused here, before any array of the islands exists. The settings have the limits that
do not depend on the ranks and the device.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from islands.archipelago.colonies import MOST_INDIVIDUALS
from islands.archipelago.parts import ProgramParts
from islands.backends.base import Backend
from islands.backends.state import Field
from islands.errors import UsageError
from islands.migration import MigrantLayout, migrates
from islands.migration.settings import MigrationSettings
from islands.migration.topology import TOPOLOGIES
from islands.parallel import Deal
from islands.text import counted

_ARRIVAL = 2 * 16 + 4
"""Bytes for a migrant that arrives: its record on both sides, and the slot that it comes from."""
_ROUTE = 4 * 8
"""Bytes of the host for planning the route of a migrant's island."""


def require_countable(islands: int, population: int, ranks: int) -> None:
    """Refuse more individuals on this rank, with this number of islands, than kernels can count."""
    if islands * population > MOST_INDIVIDUALS:
        raise UsageError(
            f"{counted(islands, 'island')} x population={population}{_of(ranks)}: at most"
            f" {MOST_INDIVIDUALS} individuals per rank. Lower either, or start more ranks"
        )


def require_memory(
    backend: Backend,
    colonies: Sequence[tuple[ProgramParts, Mapping[str, Field]]],
    migration: MigrationSettings,
    layout: MigrantLayout,
    *,
    size: tuple[int, int],
    deal: Deal,
) -> None:
    """Refuse islands of this rank that need more memory than its device has.

    `colonies` are those with islands on this rank, with their arrays; `size` is the number of
    islands of a run, and its seed.
    """
    needed = bytes_needed(backend, colonies, migration, layout, size)
    if backend.free is None or needed <= backend.free:
        return
    mine = sum(parts.shape.islands for parts, _ in colonies)
    sizes = " + ".join(
        f"{counted(parts.shape.islands, 'island')} x population={parts.shape.population}"
        for parts, _ in colonies
    )
    share = backend.free / needed
    lower = {
        "islands to at most": int(mine * share) * deal.teams,
        "population to about": 0 if colonies[1:] else int(colonies[0][0].shape.population * share),
    }
    fixes = [f"{words} {number}" for words, number in lower.items() if number > 1]
    place = "on other hosts" if backend.in_host_memory else "with GPUs of their own"
    more = f", or start more ranks {place}" if deal.teams < deal.islands else ""
    raise UsageError(
        f"{sizes}{_of(deal.ranks)} need at least {_shown(needed)} of memory, but this rank has"
        f" {_shown(backend.free)} free ({backend.device}). Lower"
        f" {' or '.join(fixes) or 'islands or population'}{more}"
    )


def bytes_needed(
    backend: Backend,
    colonies: Sequence[tuple[ProgramParts, Mapping[str, Field]]],
    migration: MigrationSettings,
    layout: MigrantLayout,
    size: tuple[int, int],
) -> int:
    """Return the bytes that the islands of this rank need at least, all colonies together."""
    is_kept = backend.in_host_memory or any(
        parts.outside or parts.improver.name != "none" for parts, _ in colonies
    )
    found = sum(bytes_of_islands(fields, parts, is_kept=is_kept) for parts, fields in colonies)
    found += backend.threads * max(_working_bytes(parts) for parts, _ in colonies)
    if migrates(migration, size[0]):
        mine = sum(parts.shape.islands for parts, _ in colonies)
        route = TOPOLOGIES[migration.topology].widest(*size) * _ROUTE
        found += mine * bytes_of_migrants(migration, layout, *size)
        found += mine * route if backend.in_host_memory else 0
    return found


def bytes_of_migrants(
    migration: MigrationSettings, layout: MigrantLayout, islands: int, seed: int
) -> int:
    """Return the bytes for the migrants of an island that leave and arrive."""
    arriving = TOPOLOGIES[migration.topology].widest(islands, seed) * migration.migrants
    return migration.migrants * layout.bytes + arriving * _ARRIVAL


def bytes_of_islands(
    fields: Mapping[str, Field], parts: ProgramParts, *, is_kept: bool = False
) -> int:
    """Return the bytes of the arrays, and of the copies with which generations can be undone."""
    found = 0
    for field in fields.values():
        one = math.prod(field.shape) * np.dtype(field.dtype).itemsize
        copies = is_kept and field.kind == "kept"
        found += one * (1 + field.in_halves + copies)
    return parts.shape.islands * found


def _working_bytes(parts: ProgramParts) -> int:
    """Return the bytes of working memory that a block needs: for sorting, or for its parts."""
    declared = [launch.room or 0 for launch in parts.schedule.launches()]
    return max(12 << (parts.shape.population - 1).bit_length(), parts.room(), *declared)


def _of(ranks: int) -> str:
    return f" on one of {ranks} ranks" if ranks > 1 else ""


def _shown(size: float) -> str:
    """Return a number of bytes as text."""
    return f"{size / 2**30:,.1f} GiB" if size >= 2**29 else f"{size / 2**20:.1f} MiB"
