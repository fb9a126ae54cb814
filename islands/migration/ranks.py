"""The ranks of a run, and how they communicate."""

from dataclasses import dataclass

from islands.migration.transport import Transport
from islands.parallel import Deal, World


@dataclass(frozen=True)
class Ranks:
    """The ranks of a run as seen by one of them: their islands and transport."""

    world: World
    deal: Deal
    """Which rank has which islands."""
    transport: type[Transport] | None = None
    """The transport of device arrays between ranks, from `transport.find`; None if not needed."""
    team: World | None = None
    """The ranks that share the islands of this rank, if there are several."""
    asynchronous: bool = False
    """Whether ranks exchange migrants without waiting for each other."""

    @property
    def held(self) -> range:
        """The islands of which this rank has a copy."""
        return self.deal.held(self.world.rank)

    @property
    def recorded(self) -> range:
        """The islands that this rank measures, records and saves."""
        return self.deal.recorded(self.world.rank)
