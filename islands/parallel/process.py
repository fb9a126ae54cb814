"""The start of a launched process in its `World`, and its end.

The start of fault-tolerant ranks is watched, as MPI waits forever for one that dies meanwhile. The
watch needs Linux and sees the ranks of this host; if it ends its own, the launcher ends all hosts'.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any, NoReturn

from islands.errors import UsageError
from islands.parallel import library
from islands.parallel.failure import RanksLostError
from islands.parallel.likeness import require_same_program
from islands.parallel.ranks import launched
from islands.parallel.world import World
from islands.text import show

_ENDING_SECONDS = 0.5
"""Seconds that rank 0 waits for other ranks to end first, once MPI has started."""
_STARTING_SECONDS = 3.0
"""The same if MPI has not started: on a busy machine, some ranks may still be starting."""
_INTERRUPTED_STATUS = 130
_LONGEST_START_SECONDS = 120.0
_LATEST_SECONDS = 5.0
"""When a rank of this host that was never seen counts as dead; a launcher starts all at once."""
_POLL_SECONDS = 0.25
_JOB, _RANK, _LOCAL_RANKS = b"PMIX_NAMESPACE", b"PMIX_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"
_GONE = "Z", "X"
"""States of dead processes that their parent has not asked about."""


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


def leave_alone(status: int) -> None:
    """End this process at once if it has others, which may wait for it: the launcher ends them."""
    if launched()[1] > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


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


@contextmanager
def watched_start(rank: int, size: int) -> Iterator[None]:
    """End this process with an error if another rank dies inside the block, which waits for it."""
    done = Event()
    watch = Thread(target=_watch, args=(rank, size, done), daemon=True)
    watch.start()
    try:
        yield
    finally:
        done.set()
        watch.join()


def end_start(rank: int, size: int, reason: str) -> NoReturn:
    """Print the reason and end this process, and so all ranks; MPI could not be ended."""
    show(
        f"islands: [rank {rank} of {size}, {platform.node()}] {reason}, so the others cannot start."
        " Repeat the command; islands-supervise repeats it by itself",
        file=sys.stderr,
    )
    os._exit(RanksLostError.status)


def _watch(rank: int, size: int, done: Event) -> None:
    neighbours = Neighbours()
    begun = time.monotonic()
    while not done.wait(_POLL_SECONDS):
        waited = time.monotonic() - begun
        reason = neighbours.loss(is_late=waited > _LATEST_SECONDS)
        if not reason and waited > _LONGEST_START_SECONDS:
            reason = f"ranks have not started within {_LONGEST_START_SECONDS:.0f} s"
        # Of several ranks that find the same, the lowest prints and ends all.
        if reason and not done.wait(min(1.0, 0.1 * rank)):
            end_start(rank, size, reason)


class Neighbours:
    """The ranks of this job on this host, as `/proc` shows them."""

    def __init__(self, processes: Path = Path("/proc"), own: int | None = None) -> None:
        self._processes = processes
        own = os.getpid() if own is None else own
        self._job = self._variables(own).get(_JOB, b"")
        self._launcher = self._launcher_of(own) if self._job else 0
        self._expected = int(os.environ.get(_LOCAL_RANKS, "0"))
        self._found: dict[int, set[int]] = {}
        """The processes of each rank: a rank may be started by a script, and start others."""

    def loss(self, *, is_late: bool) -> str:
        """Return which rank has died, or an empty string; late, a missing one has died too."""
        if not self._launcher:
            return ""
        dead = [rank for rank, pids in self._found.items() if not any(map(self._lives, pids))]
        if dead or len(self._found) < self._expected:
            unknown = self._look()
            dead = [rank for rank in dead if not any(map(self._lives, self._found[rank]))]
            if is_late and not dead and len(self._found) + unknown < self._expected:
                return f"only {len(self._found)} of {self._expected} ranks of this host are alive"
        return f"rank {min(dead)} has died" if dead else ""

    def _look(self) -> int:
        """Find the ranks; return the number of other processes that may be ranks."""
        unknown, launcher = 0, self._state(self._launcher)[0]
        for path in self._processes.glob("[0-9]*"):
            pid = int(path.name)
            name, state, parent = self._state(pid)
            variables = self._variables(pid)
            if state in _GONE:
                continue
            if variables.get(_JOB) == self._job:
                self._found.setdefault(int(variables.get(_RANK, b"0")), set()).add(pid)
            elif parent == self._launcher and (name == launcher or not variables):
                # It does not run the program of a rank yet, or its variables may not be read.
                unknown += 1
        return unknown

    def _launcher_of(self, pid: int) -> int:
        """Return the nearest ancestor outside of the job, or 0 if it is not visible."""
        while pid:
            variables = self._variables(pid)
            if variables and variables.get(_JOB) != self._job:
                return pid
            pid = self._state(pid)[2]
        return 0

    def _lives(self, pid: int) -> bool:
        return self._state(pid)[1] not in _GONE

    def _state(self, pid: int) -> tuple[str, str, int]:
        """Return the name of the program of a process, its state and its parent."""
        with suppress(OSError):
            # The name, in parentheses, may contain anything.
            text = (self._processes / str(pid) / "stat").read_text(errors="replace")
            name, _, rest = text.rpartition(")")
            state, parent, *_ = rest.split()
            return name.partition("(")[2], state, int(parent)
        return "", _GONE[0], 0

    def _variables(self, pid: int) -> dict[bytes, bytes]:
        """Return the environment with which a process began, if it may be read."""
        with suppress(OSError):
            words = (self._processes / str(pid) / "environ").read_bytes().split(b"\0")
            return dict(word.split(b"=", 1) for word in words if b"=" in word)
        return {}
