"""The entry points of console commands; `python -m islands` is the same as `islands`."""

import os
import signal
import sys

_SHELL = "/bin/sh"


def main() -> int:
    """Run the command line of this process; an interrupt during imports also gives status 130."""
    try:
        if "_ARGCOMPLETE" in os.environ:  # set by the script of `islands completion`
            from islands.cli.completion import complete

            complete(os.environ["COMP_LINE"])

        from islands.cli import main as command

        status = command()
        # While MPI ends, a signal that requests a checkpoint would change the exit status.
        for number in (signal.SIGUSR1, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        return status
    except KeyboardInterrupt:
        return 130


def supervise() -> None:
    """Replace this process by the shell script launch/supervise, which uses this Python."""
    from islands.paths import data_folder

    script = data_folder("launch") / "supervise"
    defaults = {"PYTHON": sys.executable, "ISLANDS_CALLED": "islands-supervise"}
    os.execve(_SHELL, [_SHELL, str(script), *sys.argv[1:]], defaults | os.environ)


if __name__ == "__main__":
    sys.exit(main())
