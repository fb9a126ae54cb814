"""Starts a command with SIGTERM blocked: `python -m islands.slurm.shield prted ...`.

When Slurm ends a job it sends SIGTERM to all of its processes. The ranks answer with a checkpoint;
Open MPI's daemons would kill the ranks before it is written. A blocked signal stays blocked in
what they start, so the ranks unblock it themselves.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Become the command."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
