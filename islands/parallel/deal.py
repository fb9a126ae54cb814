"""How the islands of a run are dealt to its ranks."""

from __future__ import annotations

from islands.errors import UsageError


def deal(islands: int, size: int, rank: int) -> range:
    """Return the islands of one rank: blocks in rank order, the first ones larger where uneven."""
    if size > islands:
        raise UsageError(
            f"{size} ranks for {islands} islands leave ranks without work."
            f" Start at most {islands} ranks, or begin a run with --islands {size}"
        )
    each, more = divmod(islands, size)
    first = rank * each + min(rank, more)
    return range(first, first + each + (rank < more))
