"""The ranks of a run, and the only place that imports mpi4py; without a launcher, one rank."""

from __future__ import annotations

from islands.parallel.channel import Channel
from islands.parallel.deal import deal
from islands.parallel.failure import RanksLostError, describe
from islands.parallel.launcher import launched
from islands.parallel.start import leave, speaks, world
from islands.parallel.stop_notice import StopNotice
from islands.parallel.world import Pending, World

__all__ = [
    "Channel",
    "Pending",
    "RanksLostError",
    "StopNotice",
    "World",
    "deal",
    "describe",
    "launched",
    "leave",
    "speaks",
    "world",
]
