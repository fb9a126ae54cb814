"""One process at a time speaks for a run: two in one folder would take each other's files away."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from islands.errors import InputError
from islands.paths import writing
from islands.run.folder import LOG

_PATIENCE_SECONDS = 5.0
"""How long a process that is being ended may take to leave."""


class Hold:
    """Holds a run's folder from `take` to the end of its `with` block.

    It does so by the log, which nobody ever replaces. The system lets go of it when the process
    ends in any way.
    """

    def __init__(self) -> None:
        self._log: TextIO | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def take(self, folder: Path) -> None:
        """Hold the folder, unless this is done; refuse one that another process holds."""
        if self._log is not None:
            return
        log = folder / LOG
        with writing(log):
            stream = log.open("a", encoding="utf-8")
        give_up_at = time.monotonic() + _PATIENCE_SECONDS
        while not _is_locked(stream.fileno()):
            if time.monotonic() >= give_up_at:
                stream.close()
                raise InputError(
                    f"{folder}: another process is at work on this run; {log} names its host and"
                    " pid. Wait until it ends, or end it"
                )
            time.sleep(0.1)
        self._log = stream


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a filesystem without locks takes one's word for it
    return True
