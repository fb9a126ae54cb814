"""The start and the end of a process that a launcher has started."""

import os
import sys
import time
from typing import Any

from islands.errors import UsageError
from islands.parallel import library
from islands.parallel.comparison import require_same_program
from islands.parallel.ranks import launched
from islands.parallel.world import World

_ENDING_SECONDS = 0.5
"""Seconds for which rank 0 waits for other ranks to end first, if MPI has started."""
_STARTING_SECONDS = 3.0
"""The same if MPI has not started, as some ranks may still be starting on a busy machine."""
_INTERRUPTED_STATUS = 130


def world() -> World:
    """Return the ranks that the launcher started; only several ranks need mpi4py."""
    rank, announced = launched()
    if announced == 1:
        return World()
    # If this fails, it fails on all ranks.
    library.prepare()
    try:
        ranks = World(_communicator(announced))
    except UsageError as error:
        if rank > 0:
            # This may be the only rank with the error, so it also prints it, but after rank 0.
            time.sleep(1.0)
            World().abort(f"[rank {rank} of {announced}] {error}", error.status)
        raise
    require_same_program(ranks)
    return ranks


def leave_alone(status: int) -> None:
    """End this process at once if there are other ranks; the launcher then ends them as well."""
    if launched()[1] > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def leave(status: int) -> int:
    """Return the exit status of this process; rank 0 waits before, so that it ends last.

    Only rank 0 has a status other than 0. If another rank had one, or if rank 0 ended first, the
    launcher would print a long message.
    """
    try:
        rank, size = launched()
    except UsageError:  # already printed
        return status
    if status == 0 or size == 1:
        return status
    started: Any = sys.modules.get("mpi4py.MPI")
    has_mpi = started is not None and bool(started.Is_initialized())
    if has_mpi and not started.Is_finalized():
        started.Finalize()
    if rank > 0:
        return 0
    is_interrupted = status == _INTERRUPTED_STATUS  # the other ranks are too, and end at once
    time.sleep(_ENDING_SECONDS if has_mpi or is_interrupted else _STARTING_SECONDS)
    return status


def _communicator(announced: int) -> Any:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise UsageError(
            f"started with {announced} ranks, but mpi4py cannot be used ({error})."
            " Install it with: pip install 'islands[mpi]'"
        ) from error
    size = MPI.COMM_WORLD.Get_size()
    if size != announced:
        raise UsageError(
            f"the launcher started {announced} ranks, but MPI sees {size}: they belong to different"
            " MPI libraries. Use the mpirun of the MPI that mpi4py loads, or srun --mpi=pmix"
        )
    # A duplicate separates these messages from other MPI users in this process.
    return MPI.COMM_WORLD.Dup()
