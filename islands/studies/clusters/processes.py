"""Run the launcher of a job, and handle the signals that the job receives meanwhile.

When Slurm ends a job, it sends SIGTERM to all processes of the job. The ranks answer with a
checkpoint; mpirun and its daemons would kill the ranks before it is written. Therefore mpirun and
the daemons start with SIGTERM blocked. Their children inherit this, and the ranks unblock it. As
Open MPI's launch agent, `python -m islands.studies.clusters.processes prted ...` starts a daemon in
this way.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

from islands.errors import Suspended

_NOTICE = signal.SIGUSR1
"""Slurm sends it to the batch script only, before the time limit."""
_END = signal.SIGTERM
"""Slurm sends it to all processes of a job that it ends."""


class Signals:
    """Stores the first signal that the job receives, and passes SIGUSR1 on to the ranks."""

    def __init__(self) -> None:
        self.received: str | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @contextmanager
    def handled(self) -> Iterator[Signals]:
        """Handle SIGUSR1 and SIGTERM inside the block."""
        previous = {number: signal.signal(number, self._receive) for number in (_NOTICE, _END)}
        try:
            yield self
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def run(self, command: Sequence[str], variables: Mapping[str, str]) -> int:
        """Run a command until it ends, and return its exit status as a shell reports it."""
        if self.received is not None:
            return Suspended.status
        signal.pthread_sigmask(signal.SIG_BLOCK, {_END})
        try:
            self._process = subprocess.Popen(command, env=os.environ | variables)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {_END})
        if self.received == _NOTICE.name:
            self._process.send_signal(_NOTICE)
        status = self._process.wait()
        self._process = None
        return status if status >= 0 else 128 - status

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = self.received or signal.Signals(number).name
        if number == _NOTICE and self._process is not None:
            self._process.send_signal(_NOTICE)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {_END})
    os.execvp(sys.argv[1], sys.argv[1:])
