"""The processes of one start of the ranks, and the signals that meanwhile reach the job."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType

_PASSED_ON = signal.SIGUSR1
"""What Slurm sends to the batch script alone, before the time limit."""
_TO_ALL = signal.SIGTERM
"""What Slurm sends to all processes of the job when it ends it."""


class Signals:
    """Notes the signals, and passes SIGUSR1 on to the ranks."""

    def __init__(self) -> None:
        self.received: str | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @contextmanager
    def handled(self) -> Iterator[Signals]:
        """Handle the signals inside."""
        earlier = {each: signal.signal(each, self._receive) for each in (_PASSED_ON, _TO_ALL)}
        try:
            yield self
        finally:
            for each, handler in earlier.items():
                signal.signal(each, handler)

    def run(self, command: Sequence[str], variables: Mapping[str, str]) -> int:
        """Run a command until it ends, and return its exit status as a shell reports it."""
        if self.received is not None:
            return 75
        # What is blocked here stays blocked in mpirun and srun. Slurm tells the ranks by itself.
        signal.pthread_sigmask(signal.SIG_BLOCK, {_TO_ALL})
        try:
            self._process = subprocess.Popen(command, env=os.environ | variables)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {_TO_ALL})
        if self.received == _PASSED_ON.name:
            self._process.send_signal(_PASSED_ON)
        status = self._process.wait()
        self._process = None
        return status if status >= 0 else 128 - status

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self.received = signal.Signals(number).name
        if number == _PASSED_ON and self._process is not None:
            self._process.send_signal(_PASSED_ON)
