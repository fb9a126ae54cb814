"""Processes of which nothing is heard: HiGHS prints, told to or not."""

from __future__ import annotations

import multiprocessing
import os
import signal
from multiprocessing.pool import Pool


def silent_processes(count: int) -> Pool:
    """Return so many, which end with the block that they are used in, whatever they are doing."""
    apart = multiprocessing.get_context("spawn")  # a CUDA context does not survive a fork
    return apart.Pool(count, initializer=_be_silent)


def _be_silent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits for this one hears of it
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
