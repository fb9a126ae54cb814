"""Which rank this process is according to its launcher, and which islands a rank has."""

from __future__ import annotations

import os
from dataclasses import dataclass

from islands.errors import UsageError

# The variables with which each launcher tells a process its rank and the number of ranks. A Slurm
# batch script has a rank but no step, so that a plain start inside it is one rank.
_LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
)


def launched() -> tuple[int, int]:
    """Return this process's rank and the number of ranks, as given by mpirun, srun or others."""
    for names in _LAUNCHERS:
        if all(name in os.environ for name in names):
            rank, size = (_whole(name) for name in names)
            if rank >= size:
                raise UsageError(
                    f"{names[0]}={rank}: must be less than {names[1]}={size}."
                    " Launchers set them; unset them outside of one"
                )
            return rank, size
    return 0, 1


def has_launcher() -> bool:
    """Return whether a launcher, such as mpirun, started this process."""
    return any(all(name in os.environ for name in names) for names in _LAUNCHERS)


def _whole(name: str) -> int:
    value = os.environ[name]
    if not (value.isascii() and value.isdigit()):
        raise UsageError(
            f"{name}={value}: must be a whole number. Launchers set it; unset it outside of one"
        )
    return int(value)


def blocks(items: int, groups: int, group: int) -> range:
    """Return the items of one of the groups: consecutive ones, one more in the first groups."""
    each, more = divmod(items, groups)
    first = group * each + min(group, more)
    return range(first, first + each + (group < more))


@dataclass(frozen=True)
class Deal:
    """Which ranks have which islands.

    Islands are dealt to the ranks. If there are more ranks than islands, ranks are dealt to the
    islands instead: those of an island are a team, and each has a copy of it.
    """

    islands: int
    ranks: int

    def held(self, rank: int) -> range:
        """Return the islands of a rank."""
        if self.ranks <= self.islands:
            return blocks(self.islands, self.ranks, rank)
        each, more = divmod(self.ranks, self.islands)
        larger = more * (each + 1)  # ranks in teams with one more
        island = rank // (each + 1) if rank < larger else more + (rank - larger) // each
        return range(island, island + 1)

    def team(self, rank: int) -> range:
        """Return the ranks that share the islands of a rank; only the first one speaks for them."""
        if self.ranks <= self.islands:
            return range(rank, rank + 1)
        return blocks(self.ranks, self.islands, self.held(rank).start)

    def recorded(self, rank: int) -> range:
        """Return the islands that a rank measures, records and saves: each has one such rank."""
        held = self.held(rank)
        return held if self.team(rank).start == rank else held[:0]

    def sender(self, island: int) -> int:
        """Return which rank records an island, and sends its migrants."""
        if self.ranks > self.islands:
            return blocks(self.ranks, self.islands, island).start
        each, more = divmod(self.islands, self.ranks)
        larger = more * (each + 1)  # islands of ranks that have one more
        return island // (each + 1) if island < larger else more + (island - larger) // each

    @property
    def largest_team(self) -> int:
        """The largest number of ranks that share an island."""
        return max(1, -(-self.ranks // self.islands))
