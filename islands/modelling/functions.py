"""Calls of the user's Python functions, possibly in a process pool, with validated results."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from islands.errors import RunError, Suspended
from islands.problems.evaluation import Ends, never
from islands.problems.real_costs import agree
from islands.problems.solution_kinds import SolutionKind, array_module
from islands.text import counted, shown

_MOST = 2**62
"""Maximum absolute integer cost: differences of costs must fit into 64 bits."""

_ENTRIES_AT_ONCE = 1 << 22
SEED = (
    "A solution must always have the same cost: seed the random generators of the script, such as"
    " np.random.default_rng(1), or load the data from a file"
)

Function = Callable[..., Any]


def _same(solutions: Any) -> Any:
    return solutions


@dataclass(frozen=True)
class UserFunction:
    """A Python function of the user that returns costs, and the name of its argument.

    `batch=` and `reference=` take an array with a solution per row, `function=` one solution.
    """

    argument: str
    call: Function
    takes_one: bool = False
    """Whether it takes one solution per call, as `function=` does."""
    presented: Callable[[Any], Any] = _same
    """Converts a solution, or an array of them, to the form that the function takes."""

    @property
    def is_batch(self) -> bool:
        """Whether it takes many solutions per call."""
        return self.argument != "function" and not self.takes_one

    def costs(
        self,
        solutions: Any,
        *,
        real: bool | None,
        must_leave: Callable[[], bool] = never,
        ends: Ends | None = None,
    ) -> Any:
        """Return the cost of each row as int64 or float64.

        `real` requires float64 if True, int64 if False. Costs are in the memory of the solutions,
        which may be that of a GPU. If the function takes one solution per call, calls are skipped
        once `must_leave` returns True, or after a cost for which `ends` does.
        """
        if not self.is_batch:
            return self._usable(solutions, self._called_for_each(solutions, real, must_leave, ends))
        rows = max(1, _ENTRIES_AT_ONCE // solutions.shape[1])
        parts = [solutions[i : i + rows] for i in range(0, len(solutions), rows)]
        costs = [self._usable(part, self.returned(part, real)) for part in parts]
        return costs[0] if len(costs) == 1 else array_module(solutions).concatenate(costs)

    def _usable(self, solutions: Any, costs: Any) -> Any:
        """Return the costs of all or the first solutions; reject NaN and large integers."""
        if costs.dtype.kind == "i" and (large := (costs > _MOST) | (costs < -_MOST)).any():
            raise _too_large(self.argument, costs[large][0].item())
        if costs.dtype.kind == "f" and (wrong := costs != costs).any():
            solution = _shown(self, solutions[int(wrong.argmax())])
            raise RunError(
                f"{self.argument}= returned NaN for the solution {solution}."
                f" {_instead(self.argument, 'a number')}"
            )
        return costs

    def returned(self, solutions: Any, real: bool | None, *, is_compared: bool = True) -> Any:
        """Return the costs of all solutions from one call as int64 or float64, unchecked.

        `is_compared`: whether to check that the solutions are unchanged, which waits for a GPU.
        """
        before = solutions.copy() if is_compared else None
        with _errors_explained(self, solutions):
            costs = self.call(self.presented(solutions))
        if before is not None:
            _reject_changed(self.argument, solutions, before)
        module, shape = array_module(solutions), (len(solutions),)
        return _typed(self.argument, _array(self.argument, costs, module, shape), real)

    def _called_for_each(
        self,
        solutions: NDArray[Any],
        real: bool | None,
        must_leave: Callable[[], bool],
        ends: Ends | None,
    ) -> Any:
        costs: list[Any] = []
        for row in solutions:
            if must_leave():
                break
            given = row.copy()
            with _errors_explained(self, given):
                cost = self.call(self.presented(given))
            _reject_changed(self.argument, given, row)
            costs.append(_typed(self.argument, _array(self.argument, cost, np, ()), real))
            if ends is not None and ends(costs[-1]):
                break
        is_real = real or any(cost.dtype.kind == "f" for cost in costs)
        return np.array(costs, np.float64 if is_real else np.int64)


class _WrongPairError(RunError):
    """The reference did not return a pair of costs and violations."""


def costs_and_violations(reference: UserFunction) -> tuple[UserFunction, UserFunction]:
    """Split a reference that returns costs and violations into two functions."""

    def part(which: int) -> Function:
        def call(solutions: Any) -> Any:
            result = reference.call(solutions)
            if not isinstance(result, tuple) or len(result) != 2:
                shown = " ".join(repr(result).split())
                raise _WrongPairError(
                    f"reference= returned {shown:.80}. With violation=, return two arrays: costs,"
                    " violations"
                )
            return result[which]

        return call

    return replace(reference, call=part(0)), replace(reference, call=part(1))


def _typed(argument: str, costs: Any, real: bool | None) -> Any:
    """Return costs as int64 or float64; reject real ones if `real` is False."""
    is_real = costs.dtype.kind == "f"
    if real is False and is_real:
        if bool((costs != costs).any()):
            raise RunError(f"{argument}= returned NaN. {_instead(argument, 'a number')}")
        raise RunError(
            f"{argument}= returned real costs, such as {float(costs.reshape(-1)[0])!r}, but its"
            " first cost was an integer. Always return float(cost), or always int(cost)"
        )
    return costs.astype(np.float64 if real or is_real else np.int64, copy=False)


@contextmanager
def _errors_explained(function: UserFunction, given: Any) -> Iterator[None]:
    """Turn an exception of the user's function into an error that shows the line.

    This includes sys.exit(), which would end the run without a result and with status 0.
    """
    try:
        yield
    except BaseException as error:
        if is_of_signal(error) or isinstance(error, _WrongPairError):
            raise
        hint = ""
        if isinstance(error, SystemExit | KeyboardInterrupt):
            hint = ". To reject a solution, return infinity; to end the run, send it a signal"
        if not isinstance(given, np.ndarray):
            hint = (
                ". On a GPU, solutions are CuPy arrays: use their methods or"
                " cupy.get_array_module(solutions), or choose backend='cpu'"
            )
        frames = traceback.extract_tb(error.__traceback__)
        user = [frame for frame in frames if frame.filename != __file__]
        where = [f" ({frame.filename}, line {frame.lineno}, {frame.line!r})" for frame in user]
        raise RunError(
            f"{function.argument}= raised {type(error).__name__}: {error}{''.join(where[:1])} for"
            f" {_shown(function, given)}{hint}"
        ) from error


def is_of_signal(error: BaseException) -> bool:
    """Return whether a signal handler, not the function, raised the exception."""
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    if isinstance(error, KeyboardInterrupt) and signal.default_int_handler in handlers:
        return True
    codes = {getattr(handler, "__code__", None) for handler in handlers} - {None}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return isinstance(error, Suspended) or any(frame.f_code in codes for frame in frames)


def _array(argument: str, costs: Any, module: Any, shape: tuple[int, ...]) -> Any:
    """Return costs as an array in the memory of the solutions; reject anything else."""
    try:
        if np.ma.is_masked(costs):
            raise ValueError
        array = module.asarray(costs)
    except (TypeError, ValueError, OverflowError):
        raise RunError(f"{argument}= returned {costs!r:.80}. Return {_wanted(shape)}") from None
    if array.dtype.kind in "Ou" and array.shape == shape:
        for cost in array.reshape(-1).tolist():
            if isinstance(cost, int) and abs(cost) > _MOST:
                raise _too_large(argument, cost)
    if array.shape != shape or array.dtype.kind not in "iufb":
        what = f"an array of shape {array.shape} and type {array.dtype}"
        if array.ndim == 0 or array.dtype.kind not in "iufb":
            what = f"{costs!r:.80}"
        raise RunError(f"{argument}= returned {what}. Return {_wanted(shape)}")
    if array.dtype.kind == "b":
        word = "violation" if argument == "violation" else "cost"
        number = "numbers, such as values.astype(int)" if shape else "a number, such as int(value)"
        raise RunError(
            f"{argument}= returned {costs!r:.80}, which is a boolean, not a {word}."
            f" {_instead(argument, number)}"
        )
    return array


def _instead(argument: str, numbers: str) -> str:
    if argument == "violation":
        return f"Return {numbers}: 0 if a solution is feasible, otherwise a positive number"
    return f"Return {numbers}, or infinity if a solution is infeasible"


def _too_large(argument: str, cost: int) -> RunError:
    return RunError(
        f"{argument}= returned {cost}: integer costs must be from -2**62 to 2**62. Return"
        " float(cost), or divide costs by a common factor"
    )


def _wanted(shape: tuple[int, ...]) -> str:
    return f"an array of {counted(shape[0], 'number')}, one per solution" if shape else "one number"


def _reject_changed(argument: str, given: Any, solutions: Any) -> None:
    if bool((given != solutions).any()):
        raise RunError(
            f"{argument}= changed the solutions that it was given. Work on a copy, such as"
            " solutions.copy()"
        )


def _shown(function: UserFunction, given: Any) -> str:
    """Return the argument of a function, or the first of several solutions, as text."""
    row = given[0] if getattr(given, "ndim", 1) > 1 else given
    if isinstance(named := function.presented(row), Mapping):
        return shown(named)
    values = row[:8].tolist()
    return f"[{', '.join(map(str, values))}{', ...' if len(row) > 8 else ''}]"


class PythonCosts:
    """The user's function, `batch=` or `function=`, that computes costs in place of the kernels."""

    def __init__(
        self, function: UserFunction, kind: SolutionKind, *, always_real: bool = False
    ) -> None:
        self.function, self._kind, self._always_real = function, kind, always_real
        self.callers = 1
        """The number of processes that call it concurrently."""
        self._workers: WorkerPool | None = None

    @property
    def is_batch(self) -> bool:
        """Whether the function takes many solutions per call."""
        return self.function.is_batch

    @cached_property
    def _first(self) -> NDArray[Any]:
        """The cost of a first solution, which determines the type of all costs."""
        costs: NDArray[Any] = self.function.costs(self._kind.drawn(1, seed=0), real=None)
        return costs

    @property
    def real(self) -> bool:
        """Whether costs are floating-point numbers."""
        return self._always_real or self._first.dtype.kind == "f"

    def costs(
        self,
        solutions: NDArray[Any],
        must_leave: Callable[[], bool] = never,
        ends: Ends | None = None,
    ) -> NDArray[Any]:
        """Return the costs of all rows, or of the first ones if `must_leave` or `ends` is true."""
        by = self.function if self._workers is None or len(solutions) < 2 else self._workers
        costs: NDArray[Any] = by.costs(solutions, real=self.real, must_leave=must_leave, ends=ends)
        return costs

    def stored_costs(self, stored: Any, *, is_compared: bool) -> Any:
        """Return the costs, unchecked, of solutions in the layout and memory of kernels.

        `is_compared`: whether to check that the solutions are unchanged, which waits for a GPU.
        """
        return self.function.returned(self._kind.read(stored), self.real, is_compared=is_compared)

    @contextmanager
    def prepared(self, processes: int) -> Iterator[str]:
        """Start `processes` processes that call function=, and yield a description."""
        # The workers of a multiprocessing.Pool may not start processes.
        if self.is_batch or processes < 2 or multiprocessing.current_process().daemon:
            yield f"costs by {self.function.argument}=, called by this process alone"
            return
        with WorkerPool(self.function, processes) as self._workers:
            self._require_equal_costs(self._workers)
            self.callers = processes
            yield f"costs by function=, called by {processes} processes"
        self._workers, self.callers = None, 1

    def _require_equal_costs(self, workers: WorkerPool) -> None:
        """Reject a function that returns a different cost in another process."""
        cost, solution = self._first[0].item(), self._kind.drawn(1, seed=0)
        other = workers.costs(solution, real=self.real)[0].item()
        if not agree(cost, other, real=self.real):
            raise RunError(
                f"function= returned {cost} for a solution, but {other} for the same one when it"
                f" was called again, in another process. {SEED}"
            )


_CHUNKS_PER_WORKER = 4  # few calls, but still an even distribution
_CHUNK_SECONDS = 0.001  # several times the time to pass a chunk to a worker
_PARENT_SECONDS = 2.0
_POLL_SECONDS = 0.1

_function: UserFunction | None = None
"""In a worker: the function of the user."""


class WorkerPool:
    """A process pool for one function."""

    def __init__(self, function: UserFunction, count: int) -> None:
        """Start `count` processes by fork, so that they do not run the script again."""
        self.count = count
        self._rows = 1
        """The number of solutions per `_CHUNK_SECONDS` in the slowest chunk of the last call."""
        self._is_abandoned = False
        context = multiprocessing.get_context("fork")
        self._pool = ProcessPoolExecutor(count, context, _start_worker, (function, os.getpid()))
        with warnings.catch_warnings():
            # Python warns of locks held by other threads; a worker only calls the function.
            warnings.simplefilter("ignore", DeprecationWarning)
            _result(self._pool.submit(os.getpid))

    def costs(
        self,
        solutions: NDArray[Any],
        *,
        real: bool | None,
        must_leave: Callable[[], bool] = never,
        ends: Ends | None = None,
    ) -> NDArray[Any]:
        """Return the costs of all rows, or of the first ones if `must_leave` or `ends` is true.

        After a cost for which `ends` is true, the chunks in progress are completed and returned.
        """
        # If a function is faster than passing a chunk, chunks are larger than an even share.
        share = 1 if ends is not None else -(-len(solutions) // (_CHUNKS_PER_WORKER * self.count))
        rows = max(share, self._rows, 1)
        parts = deque(solutions[i : i + rows] for i in range(0, len(solutions), rows))
        ahead = self.count if ends is not None else len(parts)
        waiting = deque[Future[tuple[NDArray[Any], float]]]()
        parts_of_costs = [np.zeros(0, np.float64 if real else np.int64)]
        slowest = 0.0
        while True:
            running = [chunk for chunk in waiting if not chunk.done()]
            while parts and len(running) < ahead:
                running.append(self._pool.submit(_costs, parts.popleft(), real))
                waiting.append(running[-1])
            if not waiting:
                break
            if running and not waiting[0].done():
                if must_leave():
                    self._is_abandoned = True
                    break
                wait(running, _POLL_SECONDS, FIRST_COMPLETED)
                continue
            costs, seconds = _result(waiting.popleft())
            parts_of_costs.append(costs)
            slowest = max(slowest, seconds / len(costs))
            if ends is not None and ends(costs).any():
                parts.clear()
        if slowest > 0:
            self._rows = int(_CHUNK_SECONDS / slowest)
        for chunk in waiting:
            chunk.cancel()
        return np.concatenate(parts_of_costs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes."""
        if self._is_abandoned:  # their results are not needed, and may never come
            for process in list(self._pool._processes.values()):
                process.kill()
        self._pool.shutdown(wait=False, cancel_futures=True)


def _result(call: Future[Any]) -> Any:
    try:
        return call.result()
    except BrokenProcessPool:
        raise RunError(
            "a process that called function= died unexpectedly. Check the memory that the function"
            " needs, its indices if it calls compiled code, and that it does not call os._exit"
        ) from None


def _start_worker(function: UserFunction, parent: int) -> None:
    """Prepare a worker to call the function; the worker ends when its parent does."""
    global _function
    # Only the run itself handles signals, and then stops its workers.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()
    _function = function


def _costs(solutions: NDArray[Any], real: bool | None) -> tuple[NDArray[Any], float]:
    """Return the costs, and the seconds that they took."""
    assert _function is not None
    began = time.perf_counter()
    costs: NDArray[Any] = _function.costs(solutions, real=real)
    return costs, time.perf_counter() - began


def _exit_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(1)
