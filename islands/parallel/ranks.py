"""Which rank this process is according to its launcher, and which islands a rank has."""

from __future__ import annotations

import os

from islands.errors import UsageError
from islands.text import counted, option

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


def deal(islands: int, size: int, rank: int) -> range:
    """Return the islands of one of `size` ranks: consecutive blocks, the first ones one larger."""
    if size > islands:
        raise UsageError(
            f"{size} ranks for {counted(islands, 'island')} leave ranks without work. Start at most"
            f" {counted(islands, 'rank')}, or begin a run with {option('islands', size)}"
        )
    each, more = divmod(islands, size)
    first = rank * each + min(rank, more)
    return range(first, first + each + (rank < more))
