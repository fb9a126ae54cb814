"""The start of a launched process in its `World`, and its end."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from islands.errors import UsageError
from islands.parallel import library
from islands.parallel.failure import RanksLostError
from islands.parallel.likeness import require_same_program
from islands.parallel.ranks import launched
from islands.parallel.start_watch import end_start, watched_start
from islands.parallel.world import World

_ENDING_SECONDS = 0.5
"""Seconds that rank 0 waits for other ranks to end first, once MPI has started."""
_STARTING_SECONDS = 3.0
"""The same if MPI has not started: on a busy machine, some ranks may still be starting."""
_INTERRUPTED_STATUS = 130


def world(*, fault_tolerant: bool = False) -> World:
    """Return the ranks that the launcher started; only several ranks need mpi4py.

    With `fault_tolerant`, the death of another rank raises a `RanksLostError`.
    """
    rank, announced = launched()
    if announced == 1:
        return World()
    # An error here is the same on all ranks.
    library.prepare(fault_tolerant=fault_tolerant)
    if not library.outlives_ranks():
        return _started(rank, announced, fault_tolerant=fault_tolerant)
    try:
        with watched_start(rank, announced):
            return _started(rank, announced, fault_tolerant=fault_tolerant)
    except RanksLostError as error:
        time.sleep(min(1.0, 0.1 * rank))  # the lowest rank prints, and ends the others
        end_start(rank, announced, f"a rank has died ({error.__cause__})")


def _started(rank: int, announced: int, *, fault_tolerant: bool) -> World:
    """Return the ranks, which run the same program."""
    try:
        communicator = _communicator(announced)
        ranks = World(communicator, fault_tolerant=fault_tolerant)
    except UsageError as error:
        if rank > 0:
            # This may be the only rank with the error, so it prints it, but after rank 0.
            time.sleep(1.0)
            World().abort(f"[rank {rank} of {announced}] {error}", error.status)
        raise
    require_same_program(ranks)
    return ranks


def prints_for_all(launched_as: int) -> bool:
    """Return whether the process that was launched as this rank prints for all ranks."""
    left = World.rank_after_losses
    return (launched_as if left is None else left) == 0


def leave(status: int) -> int:
    """Return the exit status of this process after waiting so that rank 0 ends last.

    Only rank 0 returns a status other than 0: if another rank does, or if rank 0 ends first, the
    launcher prints a long message of its own.
    """
    if World.rank_after_losses is not None or status == RanksLostError.status:
        # After the loss of ranks, MPI may wait for them forever at its end.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    try:
        rank, size = launched()
    except UsageError:  # has been printed
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
        if library.outlives_ranks():
            library.initialize()
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
    # A duplicate separates these messages from other users of MPI in this process.
    try:
        return MPI.COMM_WORLD.Dup()
    except MPI.Exception as error:
        if not library.outlives_ranks():
            raise
        raise RanksLostError("lost ranks during the start") from error
