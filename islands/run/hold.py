"""One process at a time speaks for a run: two in one folder would take each other's files away."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from islands.errors import InputError
from islands.paths import writing
from islands.run.folder import LOG

_PATIENCE_SECONDS = 5.0
"""How long a process that is being ended may take to leave."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a run's folder, which the system lets go of when the process ends in any way."""
    log = folder / LOG
    with writing(log):
        stream = log.open("a", encoding="utf-8")
    with stream:
        give_up_at = time.monotonic() + _PATIENCE_SECONDS
        while not _is_locked(stream.fileno()):
            if time.monotonic() >= give_up_at:
                raise InputError(
                    f"{folder}: another process is at work on this run; {log} names its host and"
                    " pid. Wait until it ends, or end it"
                )
            time.sleep(0.1)
        yield


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a filesystem without locks takes one's word for it
    return True
