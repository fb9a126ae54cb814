"""Limits on sizes, which are checked before arrays are allocated.

`require_size` compares a size with a limit; `Lines.expect` compares it with the file's length.
"""

from collections.abc import Callable

from islands.errors import IslandsError, UsageError

MOST_NODES = 10_000_000
"""Maximum nodes of a graph stored as edges, and maximum rows or columns of a covering problem."""
FEW_NODES = 100_000
"""Number of nodes that is always allowed, even if the graph has few edges."""
MOST_NODES_PER_EDGE = 16
MOST_IN_MATRIX = 5_000
"""Maximum nodes of a graph stored as a matrix; reading it takes several copies of 200 MB each."""
MOST_NUMBERS = 20_000_000
"""Maximum count of numbers in a file that `islands.models` reads."""


def require_size(
    name: str,
    count: int,
    what: str,
    most: int,
    error: Callable[[str], IslandsError] = UsageError,
) -> None:
    """Raise an error if there are more than `most` of `what`, such as nodes."""
    if count > most:
        raise error(f"{name}: has {count} {what}, but at most {most} fit in memory. Use fewer")
