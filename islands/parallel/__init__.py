"""The ranks of a run: a single one, or several, connected by mpi4py (imported only here).

All ranks call the same functions in the same order. An error on one rank is printed once and ends
all ranks.

- `World`: the ranks and their collective operations.
- `Channel`: sends messages without waiting, at most one at a time to each rank.
- `Deal`: which islands a rank has, and which ranks form a team.

May import `custom` and the basic modules, such as `text` and `errors`, but no islands.
"""

from islands.parallel.channel import Channel
from islands.parallel.comparison import differences
from islands.parallel.failure import ERROR_FILE, InterruptedTogether, describe, record_error
from islands.parallel.process import leave, leave_alone, world
from islands.parallel.ranks import (
    LARGEST_TEAM,
    Deal,
    blocks,
    has_launcher,
    launched,
    powers_of_two,
)
from islands.parallel.stop_notice import StopNotice
from islands.parallel.world import Pending, PersistentMessages, World

__all__ = [
    "ERROR_FILE",
    "LARGEST_TEAM",
    "Channel",
    "Deal",
    "InterruptedTogether",
    "Pending",
    "PersistentMessages",
    "StopNotice",
    "World",
    "blocks",
    "describe",
    "differences",
    "has_launcher",
    "launched",
    "leave",
    "leave_alone",
    "powers_of_two",
    "record_error",
    "world",
]
