"""How the islands of a run are dealt to its ranks."""

from __future__ import annotations

from islands.errors import UsageError
from islands.text import counted, option


def deal(islands: int, size: int, rank: int) -> range:
    """Return the islands of one rank: blocks in rank order, the first ones larger where uneven."""
    if size > islands:
        raise UsageError(
            f"{size} ranks for {counted(islands, 'island')} leave ranks without work. Start at most"
            f" {counted(islands, 'rank')}, or begin a run with {option('islands', size)}"
        )
    each, more = divmod(islands, size)
    first = rank * each + min(rank, more)
    return range(first, first + each + (rank < more))
