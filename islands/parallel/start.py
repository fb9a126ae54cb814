"""From a launched process to its `World`."""

from __future__ import annotations

import faulthandler
import os
import sys
import time
from typing import Any

from islands.errors import UsageError
from islands.parallel import library
from islands.parallel.launcher import launched
from islands.parallel.world import World

_LONGEST_START_SECONDS = 120
_PARTING_SECONDS = 0.5
"""How long rank 0 leaves the others to end before it, when they have met in MPI."""
_INTERRUPTED_STATUS = 130
_STARTING_SECONDS = 3.0
"""How long, when they have not: on a busy machine, some may only be starting."""


def world(*, fault_tolerant: bool = False) -> World:
    """Return the ranks that the launcher started; only several of them need mpi4py.

    Those that are to be `fault_tolerant` are told of ranks that have died.
    """
    rank, announced = launched()
    if announced == 1:
        return World()
    # What this refuses, it refuses on all ranks alike.
    library.prepare(fault_tolerant=fault_tolerant)
    try:
        if fault_tolerant:
            # MPI waits for ever for a rank that dies before it is there, and tells nobody.
            faulthandler.dump_traceback_later(_LONGEST_START_SECONDS, exit=True)
        try:
            communicator = _communicator(announced)
        finally:
            faulthandler.cancel_dump_traceback_later()
        return World(communicator, fault_tolerant=fault_tolerant)
    except UsageError as error:
        if rank > 0:
            # Each rank may be the only one with this trouble, so it speaks, but after rank 0.
            time.sleep(1.0)
            World().abort(f"[rank {rank} of {announced}] {error}", error.status)
        raise


def speaks(launched_as: int) -> bool:
    """Return whether the process that was launched as this rank speaks for all."""
    left = World.rank_after_losses
    return (launched_as if left is None else left) == 0


def leave(status: int) -> int:
    """Return the status of this process, which is to end now; rank 0 is to end last.

    Of several ranks it alone has a status that is not 0: a launcher that sees another rank end so,
    or rank 0 before the others, adds a page of its own.
    """
    if World.rank_after_losses is not None:
        # MPI, having lost ranks, may wait for them for ever at its end.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    try:
        rank, size = launched()
    except UsageError:  # has been said
        return status
    if status == 0 or size == 1:
        return status
    started: Any = sys.modules.get("mpi4py.MPI")
    have_met = started is not None and bool(started.Is_initialized())
    if have_met and not started.Is_finalized():
        started.Finalize()
    if rank > 0:
        return 0
    is_told = status == _INTERRUPTED_STATUS  # as the others are, who end at once
    time.sleep(_PARTING_SECONDS if have_met or is_told else _STARTING_SECONDS)
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
    # Its own messages never meet those of others in this process.
    return MPI.COMM_WORLD.Dup()
