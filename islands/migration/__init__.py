"""Migration of individuals between islands."""

from __future__ import annotations

from islands.migration.exchange import Arrivals, AsyncExchange, Exchange, MigrationTimes
from islands.migration.kernels import Side
from islands.migration.migrant import Layout, Migrant
from islands.migration.settings import MigrationSettings, migrates
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
