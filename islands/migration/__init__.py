"""How the best individuals travel between islands."""

from __future__ import annotations

from islands.migration.asynchronous import AsyncExchange
from islands.migration.base import MigrationSettings
from islands.migration.exchange import Arrivals, Exchange, Phases, migrates
from islands.migration.migrant import Migrant
from islands.migration.topology import TOPOLOGIES
from islands.migration.transport import Transport

__all__ = [
    "TOPOLOGIES",
    "Arrivals",
    "AsyncExchange",
    "Exchange",
    "Migrant",
    "MigrationSettings",
    "Phases",
    "Transport",
    "migrates",
]
