"""Migration of individuals between islands."""

from __future__ import annotations

from islands.migration.arrivals import Arrivals, MigrationTimes
from islands.migration.asynchronous import AsyncExchange
from islands.migration.base import MigrationSettings, migrates
from islands.migration.exchange import Exchange
from islands.migration.kernels import Side
from islands.migration.migrant import Layout, Migrant
from islands.migration.topology import TOPOLOGIES
from islands.migration.transport import Transport

__all__ = [
    "TOPOLOGIES",
    "Arrivals",
    "AsyncExchange",
    "Exchange",
    "Layout",
    "Migrant",
    "MigrationSettings",
    "MigrationTimes",
    "Side",
    "Transport",
    "migrates",
]
