"""Show the progress of a run that another process or a job is making."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from islands.cli import arguments
from islands.record.folder import LOG

_LOOK_SECONDS, _ASK_SECONDS = 0.5, 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `islands watch`."""
    words = "the folder of a run or of a submitted job"
    parser.add_argument("folder", metavar="DIR", type=arguments.folder, help=words)


def main(args: argparse.Namespace) -> int:
    """Print the log of the run as it grows, and its state whenever that changes."""
    from islands.slurm.state import state_of

    log = _Log(args.folder / LOG)
    shown, asked = "", -_ASK_SECONDS
    while True:
        if time.monotonic() - asked >= _ASK_SECONDS:
            state, asked = state_of(args.folder), time.monotonic()
        log.show()
        if state.word != shown:
            print(f"{args.folder}: {state}", flush=True)
            shown = state.word
        if state.is_final:
            return 1 if state.word == "failed" else 0
        time.sleep(_LOOK_SECONDS)


class _Log:
    """A log that another process writes."""

    def __init__(self, path: Path) -> None:
        self._path, self._position = path, 0

    def show(self) -> None:
        """Print what has been added."""
        if not self._path.is_file():
            return
        if self._path.stat().st_size < self._position:
            self._position = 0  # the run has begun again
        with self._path.open(errors="replace") as stream:
            stream.seek(self._position)
            print(stream.read(), end="", flush=True)
            self._position = stream.tell()
