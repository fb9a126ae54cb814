"""The ranks of a run, over mpi4py, which only this folder imports; or one rank without it."""

from __future__ import annotations

from islands.parallel.channel import Channel
from islands.parallel.failure import ERROR_FILE, InterruptedTogether, describe, record_error
from islands.parallel.likeness import differences
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
from islands.parallel.world import Pending, Standing, World

__all__ = [
    "ERROR_FILE",
    "LARGEST_TEAM",
    "Channel",
    "Deal",
    "InterruptedTogether",
    "Pending",
    "Standing",
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
