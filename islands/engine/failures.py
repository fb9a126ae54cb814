"""Failures to write files or output: they end a run early, without losing its result."""

import shlex
import sys
from contextlib import suppress
from pathlib import Path

from islands.engine.signals import OUTPUT_LOST, UNWRITABLE, Interruption
from islands.errors import InputError
from islands.parallel import World, describe
from islands.record.folder import FINISHED
from islands.text import show


class Failures:
    """The failures of this rank; the first one of all ranks is reported.

    A failure of a file inside a block `with failures:` is recorded, and requests the end of the
    run.
    """

    def __init__(self, world: World, folder: Path | None, interruption: Interruption) -> None:
        self._world, self._folder, self._interruption = world, folder, interruption
        self._error = ""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, OSError | InputError) and not isinstance(error, BrokenPipeError):
            self._record(error)
            return True
        return False

    def of_screen(self, error: Exception, is_log: bool) -> None:
        """Record an error of the log, or end the run if its output is lost."""
        if is_log:
            self._record(error)
        elif self._folder is not None:
            with suppress(OSError):
                show(f"islands: the output is lost: {describe(error)}", file=sys.stderr)
            self._interruption.request(OUTPUT_LOST)

    def of_all_ranks(self) -> str:
        """Return the first file error of any rank, and the command that continues; collective."""
        error, folder = next(filter(None, self._world.allgather(self._error)), ""), self._folder
        if not error or folder is None:
            return error
        if self._world.from_first((folder / FINISHED).exists):
            return error
        return f"{error}. Then continue the run with: {resuming(folder)}"

    def _record(self, error: Exception) -> None:
        self._error = self._error or describe(error)
        self._interruption.request(UNWRITABLE)


def resuming(folder: Path | str | None) -> str:
    """Return the command that continues a run."""
    return f"islands resume {shlex.quote(str(folder))}"
