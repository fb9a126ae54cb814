"""The ranks of a run, over mpi4py, which only this folder imports; or one rank without it."""

from __future__ import annotations

from islands.parallel.channel import Channel
from islands.parallel.failure import RanksLostError, describe
from islands.parallel.ranks import deal, launched
from islands.parallel.start import leave, prints_for_all, world
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
    "prints_for_all",
    "world",
]
