"""Failures to write files or output: they end a run early, but its result is not lost."""

from __future__ import annotations

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
    """The failures of this rank, of which the first one of all ranks is reported.

    Inside a block `with failures:`, the failure of a file is recorded, and requests the end of the
    run.
    """

    def __init__(self, world: World, folder: Path | None, interruption: Interruption) -> None:
        self._world, self._folder, self._interruption = world, folder, interruption
        self._error = ""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, OSError | InputError) and not isinstance(error, BrokenPipeError):
            self._note(error)
            return True
        return False

    def of_screen(self, error: Exception, is_log: bool) -> None:
        """Record that the log or the output cannot be written; a lost terminal is not a failure."""
        if is_log:
            self._note(error)
        elif self._folder is not None:
            with suppress(OSError):
                show(f"islands: the output is lost: {describe(error)}", file=sys.stderr)
            self._interruption.request(OUTPUT_LOST)

    def of_all_ranks(self) -> str:
        """Return the first failure of a file, with the command that continues; collective."""
        found = next(filter(None, self._world.allgather(self._error)), "")
        if not found or self._folder is None or self._is_finished():
            return found
        return f"{found}. Then continue the run with: {resuming(self._folder)}"

    def _is_finished(self) -> bool:
        folder = self._folder
        return self._world.from_first(lambda: folder is not None and (folder / FINISHED).exists())

    def _note(self, error: Exception) -> None:
        self._error = self._error or describe(error)
        self._interruption.request(UNWRITABLE)


def resuming(folder: Path | str | None) -> str:
    """Return the command that continues a run."""
    return f"islands resume {shlex.quote(str(folder))}"
