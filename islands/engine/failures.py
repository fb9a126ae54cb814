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
    """Records the file errors of a rank; the first error of any rank is reported.

    A file error inside a block `with failures:` is recorded, and ends the run early.
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
        """Record an error of the log; if the output is lost, end a run that has a folder."""
        if is_log:
            self._record(error)
        elif self._folder is not None:
            with suppress(OSError):
                show(f"islands: the output is lost: {describe(error)}", file=sys.stderr)
            self._interruption.request(OUTPUT_LOST)

    def of_all_ranks(self) -> str:
        """Return the first file error of any rank, with the command to continue; collective."""
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
