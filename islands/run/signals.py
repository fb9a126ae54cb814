"""What a run does when interrupted: the first SIGINT asks it to end well, the second ends it."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType, TracebackType
from typing import Self

STATUS = 128 + signal.SIGINT
"""The exit status of an interrupted run."""


class Interruption:
    """Counts SIGINTs while its `with` block lasts; `requested` is true after the first.

    A thread counts, since Python's own handler waits until a running kernel returns. Outside the
    main thread, where Python allows no handlers, signals keep their meaning.
    """

    def __init__(self) -> None:
        self.requested = False
        self._usable = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        if self._usable:
            self._read, self._write = os.pipe()
            os.set_blocking(self._write, False)
            self._previous_pipe = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
            # Without a handler of Python's own, the pipe would hear nothing.
            self._previous = signal.signal(signal.SIGINT, _ignore)
            self._listener = threading.Thread(target=self._listen, daemon=True)
            self._listener.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._usable:
            signal.signal(signal.SIGINT, self._previous)
            signal.set_wakeup_fd(self._previous_pipe)
            os.close(self._write)
            self._listener.join()
            os.close(self._read)

    def _listen(self) -> None:
        while heard := os.read(self._read, 1):
            if heard[0] != signal.SIGINT:
                continue
            if self.requested:
                os._exit(STATUS)
            self.requested = True
            print(
                "islands: interrupted; writing the best so far (once more to end at once)",
                file=sys.stderr,
                flush=True,
            )


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Leave the signal to the listening thread."""
