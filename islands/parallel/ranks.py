"""Which rank this process is according to its launcher, and which islands a rank has."""

from __future__ import annotations

import os
from dataclasses import dataclass

from islands.errors import UsageError

LARGEST_TEAM = 8
"""Ranks that share all islands: each keeps a copy, and sends its part to all others."""
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


def powers_of_two(limit: int) -> list[int]:
    """Return 1, 2, 4, ... and the limit itself: the numbers of ranks or nodes that are compared."""
    return sorted({1 << exponent for exponent in range(limit.bit_length())} | {limit})


def _group(items: int, groups: int, item: int) -> int:
    """Return the group whose block contains an item."""
    each, more = divmod(items, groups)
    larger = more * (each + 1)  # items of groups that have one more
    return item // (each + 1) if item < larger else more + (item - larger) // each


@dataclass(frozen=True)
class Deal:
    """Which ranks have which islands.

    Ranks form teams, and islands are dealt to the teams. Each rank of a team has a copy of all its
    islands, on which it does a part of the work. Usually a team has several ranks only if there are
    more ranks than islands.
    """

    islands: int
    ranks: int
    shares_all: bool = False
    """Whether all ranks share all islands, in teams of at most eight."""

    @property
    def teams(self) -> int:
        """The number of teams."""
        most = -(-self.ranks // LARGEST_TEAM) if self.shares_all else self.ranks
        return min(most, self.islands)

    def _team_of(self, rank: int) -> int:
        return _group(self.ranks, self.teams, rank)

    def held(self, rank: int) -> range:
        """Return the islands of a rank."""
        return blocks(self.islands, self.teams, self._team_of(rank))

    def team(self, rank: int) -> range:
        """Return the ranks that share the islands of a rank; only the first one speaks for them."""
        return blocks(self.ranks, self.teams, self._team_of(rank))

    def recorded(self, rank: int) -> range:
        """Return the islands that a rank measures, records and saves: each has one such rank."""
        held = self.held(rank)
        return held if self.team(rank).start == rank else held[:0]

    def sender(self, island: int) -> int:
        """Return which rank records an island, and sends its migrants."""
        team = _group(self.islands, self.teams, island)
        return blocks(self.ranks, self.teams, team).start

    @property
    def largest_team(self) -> int:
        """The largest number of ranks that share an island."""
        return -(-self.ranks // self.teams)
