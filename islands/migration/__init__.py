"""Migration of individuals between islands.

A topology defines which islands send to which. The route of a rank follows from it, and all ranks
compute the same routes. Kernels pack migrants, a transport sends them, and kernels unpack them.

- `Topology`: returns the senders of each island, from the seed and the migration number only.
- `Exchange`: the migrations of all islands of a run; with a delay, they overlap generations.
- `Transport`: sends bytes to another rank, between GPUs or through the memory of the hosts.
- `Ranks`: the ranks of a run, their islands, and the transport between them.

May import `algorithms`, `encodings`, `parallel`, `backends` and the layers below them.
"""

from islands.migration.exchange import Arrivals, AsyncExchange, Exchange, MigrationTimes
from islands.migration.kernels import Side
from islands.migration.migrant import Migrant, MigrantLayout
from islands.migration.ranks import Ranks
from islands.migration.settings import MigrationSettings, migrates
from islands.migration.topology import TOPOLOGIES
from islands.migration.transport import Transport

__all__ = [
    "TOPOLOGIES",
    "Arrivals",
    "AsyncExchange",
    "Exchange",
    "Migrant",
    "MigrantLayout",
    "MigrationSettings",
    "MigrationTimes",
    "Ranks",
    "Side",
    "Transport",
    "migrates",
]
