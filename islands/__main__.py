"""The entry points of the console commands; `python -m islands` is the same as `islands`."""

from __future__ import annotations

import signal
import sys

_SHELL = "/bin/sh"


def main() -> int:
    """Run the command line of this process; an interrupt during imports also gives status 130."""
    try:
        from islands.cli import main as command

        status = command()
        # MPI takes a while to end. A signal that asks for a checkpoint would fail what is done.
        for each in (signal.SIGUSR1, signal.SIGHUP):
            signal.signal(each, signal.SIG_IGN)
        return status
    except KeyboardInterrupt:
        return 130


def supervise() -> None:
    """Replace this process by the shell script launch/supervise, which uses this Python."""
    import os

    from islands.paths import data_folder

    script = data_folder("launch") / "supervise"
    own = {"PYTHON": sys.executable, "ISLANDS_CALLED": "islands-supervise"}
    os.execve(_SHELL, [_SHELL, str(script), *sys.argv[1:]], own | os.environ)


if __name__ == "__main__":
    sys.exit(main())
