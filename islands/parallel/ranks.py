"""The rank of this process according to its launcher, and the islands of a rank."""

import os
from dataclasses import dataclass

from islands.errors import UsageError

LARGEST_TEAM = 8
"""Maximum number of ranks of a team if all ranks share all islands."""
# Variables in which launchers pass the rank and the number of ranks. A Slurm batch script has a
# rank but no step, so a process that it starts without srun is a single rank.
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
                    " Unset them to start without a launcher"
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
            f"{name}={value}: must be a whole number. Unset it to start without a launcher"
        )
    return int(value)


def blocks(items: int, groups: int, group: int) -> range:
    """Return the consecutive items of a group; the first groups have one more if necessary."""
    size, more = divmod(items, groups)
    first = group * size + min(group, more)
    return range(first, first + size + (group < more))


def powers_of_two(limit: int) -> list[int]:
    """Return 1, 2, 4, ... and the limit itself, such as numbers of ranks to compare."""
    return sorted({1 << exponent for exponent in range(limit.bit_length())} | {limit})


def _group(items: int, groups: int, item: int) -> int:
    """Return the group whose block contains an item."""
    size, more = divmod(items, groups)
    larger = more * (size + 1)  # items of groups that have one more
    return item // (size + 1) if item < larger else more + (item - larger) // size


@dataclass(frozen=True)
class Deal:
    """The distribution of the islands over the ranks.

    Ranks form teams, and islands are dealt to teams. Every rank of a team has a copy of the team's
    islands, and does part of the work on them. A team has several ranks if there are more ranks
    than islands, or if all ranks share all islands.
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
        """Return the ranks that share the islands of a rank; the first one records them."""
        return blocks(self.ranks, self.teams, self._team_of(rank))

    def recorded(self, rank: int) -> range:
        """Return the islands that a rank measures, records and saves, one rank per island."""
        held = self.held(rank)
        return held if self.team(rank).start == rank else held[:0]

    def sender(self, island: int) -> int:
        """Return the rank that records an island and sends its migrants."""
        team = _group(self.islands, self.teams, island)
        return blocks(self.ranks, self.teams, team).start

    @property
    def largest_team(self) -> int:
        """The largest number of ranks that share an island."""
        return -(-self.ranks // self.teams)
