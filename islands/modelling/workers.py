"""Processes that call a user's Python function of one solution, where they can import it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from islands.custom.scripts import is_reference, module_of, parted, reference_to
from islands.errors import InputError, RunError
from islands.modelling.functions import Function, costs_by
from islands.problems.base import never

_CHUNKS_EACH = 4  # per worker: fewer calls, but still an even distribution
_PARENT_SECONDS = 2.0
_LOOK_SECONDS = 0.1

_function: Function | None = None
"""In a worker: the function of the user."""


class WorkerPool:
    """A pool of processes for one function."""

    def __init__(self, reference: str, count: int) -> None:
        """Start `count` processes that import the function from `FILE.py:NAME`."""
        self.count = count
        self._is_left = False
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(count, context, _begin, (reference, os.getpid()))
        with _without_main():
            # Each waits a moment, so that all processes are started now.
            for ready in [self._pool.submit(time.sleep, 0.05) for _ in range(count)]:
                _result(ready.result)

    def costs(
        self,
        argument: str,
        solutions: NDArray[Any],
        *,
        real: bool | None,
        must_leave: Callable[[], bool] = never,
    ) -> NDArray[Any]:
        """Return the cost of each row, or of the first ones, if it `must_leave` before the end."""
        rows = max(1, -(-len(solutions) // (_CHUNKS_EACH * self.count)))
        parts = [solutions[i : i + rows] for i in range(0, len(solutions), rows)]
        waiting = [self._pool.submit(_costs, argument, part, real) for part in parts]
        found = [np.zeros(0, np.float64 if real else np.int64)]
        for each in waiting:
            while not each.done() and not must_leave():
                wait([each], _LOOK_SECONDS)
            if not each.done():
                self._is_left = True
                break
            found.append(_result(each.result))
        for each in waiting:
            each.cancel()
        return np.concatenate(found)

    def __enter__(self) -> Self:
        """Return the pool."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        if self._is_left:  # nobody needs what they still compute, which may never end
            for each in list(self._pool._processes.values()):
                each.kill()
        self._pool.shutdown(wait=False, cancel_futures=True)


def reference_of(function: Function) -> str | None:
    """Return `FILE.py:NAME` from which another process can import a function, or None."""
    reference = reference_to(function)
    if reference is None or not is_reference(reference):
        return None
    path, name = parted(reference)
    try:
        found = vars(module_of(path)).get(name)
    except InputError:
        return None
    return reference if found is not None else None


def _result(get: Callable[[], Any]) -> Any:
    try:
        return get()
    except BrokenProcessPool:
        raise RunError(
            "a process that called function= ended suddenly. Check the memory that the function"
            " needs, that it does not call os._exit, and that its script runs alone"
        ) from None


def _begin(reference: str, parent: int) -> None:
    """Import the function in a new process, which ends with its parent."""
    global _function
    # Signals are for the run itself, which then stops its workers.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    path, name = parted(reference)
    _function = getattr(module_of(path), name)


def _costs(argument: str, solutions: NDArray[Any], real: bool | None) -> NDArray[Any]:
    assert _function is not None
    costs: NDArray[Any] = costs_by(_function, argument, solutions, is_batch=False, real=real)
    return costs


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the main script, which new processes would otherwise run from its beginning."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
