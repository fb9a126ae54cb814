"""How the best individuals travel between islands."""

from __future__ import annotations

from islands.migration.base import TOPOLOGIES, MigrationSettings
from islands.migration.exchange import Exchange

__all__ = ["TOPOLOGIES", "Exchange", "MigrationSettings"]
