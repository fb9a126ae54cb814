"""The limits of sizes, which are checked before arrays are allocated.

`require_size` compares a size with a limit, and `Lines.expect` with the length of its file.
"""

from collections.abc import Callable

from islands.errors import IslandsError, UsageError

MOST_NODES = 10_000_000
"""Nodes of a graph that is stored by its edges, and rows or columns of a covering problem."""
FEW_NODES = 100_000
"""Nodes that a graph may have, however few edges it has."""
MOST_NODES_PER_EDGE = 16
MOST_IN_MATRIX = 5_000
"""Nodes of a graph that is stored as a matrix; reading takes several copies of 200 MB each."""
MOST_NUMBERS = 20_000_000
"""Numbers in the file of a model."""


def require_size(
    name: str,
    count: int,
    what: str,
    most: int,
    error: Callable[[str], IslandsError] = UsageError,
) -> None:
    """Reject more of `what` than fit in memory."""
    if count > most:
        raise error(f"{name}: has {count} {what}, but at most {most} fit in memory. Use fewer")
