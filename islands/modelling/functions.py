"""Calls of a user's Python functions, whose results are checked."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from islands.errors import RunError, Suspended
from islands.problems.base import never
from islands.text import counted

_MOST = 2**62
"""The largest absolute value of an integer cost: differences of costs must fit into 64 bits."""

Function = Callable[..., Any]


def costs_by(
    function: Function,
    argument: str,
    solutions: Any,
    *,
    is_batch: bool,
    real: bool | None,
    must_leave: Callable[[], bool] = never,
) -> Any:
    """Return the costs of solutions, each row of which is one; int64 or float64.

    `argument` names the function in messages. Unless `real` is None, costs have this type. The
    solutions may be in the memory of a GPU, and the costs are then as well. If the function takes
    one solution, those after `must_leave` has returned true are left out.
    """
    if is_batch:
        costs = returned_by(function, argument, solutions, real)
    else:
        costs = _called_for_each(function, argument, solutions, real, must_leave)
    if costs.dtype.kind == "i" and (large := (costs > _MOST) | (costs < -_MOST)).any():
        raise _too_large(argument, costs[large][0].item())
    if costs.dtype.kind == "f" and (wrong := costs != costs).any():
        row = int(wrong.argmax())
        raise RunError(
            f"{argument}= returned NaN for the solution {_shown(solutions[row])}. Return a number,"
            " or infinity if a solution is infeasible"
        )
    return costs


def returned_by(
    function: Function,
    argument: str,
    solutions: Any,
    real: bool | None,
    *,
    is_compared: bool = True,
) -> Any:
    """Return what a function returns for all solutions at once; int64 or float64, of any value.

    `is_compared`: whether to look for changes of the solutions, which waits for a GPU.
    """
    module = module_of(solutions)
    before = solutions.copy() if is_compared else None
    with _Raising(argument, solutions):
        costs = function(solutions)
    if before is not None:
        _refuse_changed(argument, solutions, before)
    return _typed(argument, _array(argument, costs, module, (len(solutions),)), real)


def _typed(argument: str, costs: Any, real: bool | None) -> Any:
    """Return costs as int64 or float64; refuse real ones if `real` is False."""
    is_real = costs.dtype.kind == "f"
    if real is False and is_real:
        raise RunError(
            f"{argument}= returned real costs, such as {float(costs.reshape(-1)[0])!r}, but its"
            " first cost was an integer. Return float(cost) always, or int(cost) always"
        )
    return costs.astype(np.float64 if real or is_real else np.int64, copy=False)


def _called_for_each(
    function: Function,
    argument: str,
    solutions: NDArray[Any],
    real: bool | None,
    must_leave: Callable[[], bool],
) -> Any:
    costs = []
    for row in solutions:
        if must_leave():
            break
        given = row.copy()
        with _Raising(argument, given):
            cost = function(given)
        _refuse_changed(argument, given, row)
        costs.append(_array(argument, cost, np, ()))
    kind = np.float64 if any(each.dtype.kind == "f" for each in costs) else np.int64
    return _typed(argument, np.array(costs, kind), real)


class _Raising:
    """Turns an exception of the user's function into an error that shows its line.

    That includes sys.exit(), which would end the run without a result and with status 0.
    """

    def __init__(self, argument: str, given: Any) -> None:
        self._argument, self._given = argument, given

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Raise the error."""
        if error is None or is_of_signal(error):
            return
        hint = ""
        if isinstance(error, SystemExit | KeyboardInterrupt):
            hint = ". To refuse a solution, return infinity; to end the run, send it a signal"
        if not isinstance(self._given, np.ndarray):
            hint = (
                ". On a GPU, solutions are CuPy arrays: use their methods or"
                " cupy.get_array_module(solutions), or choose backend='cpu'"
            )
        frames = traceback.extract_tb(trace)
        last = frames[1] if len(frames) > 1 else frames[-1]  # the first of the user
        raise RunError(
            f"{self._argument}= raised {type(error).__name__}: {error} ({last.filename}, line"
            f" {last.lineno}, {last.line!r}) for {_shown(self._given)}{hint}"
        ) from error


def is_of_signal(error: BaseException) -> bool:
    """Return whether the handler of a signal raised an exception, and not the function."""
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    if isinstance(error, KeyboardInterrupt) and signal.default_int_handler in handlers:
        return True
    codes = {getattr(each, "__code__", None) for each in handlers} - {None}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return isinstance(error, Suspended) or any(each.f_code in codes for each in frames)


def _array(argument: str, costs: Any, module: Any, shape: tuple[int, ...]) -> Any:
    """Return costs as an array in the memory of the solutions; refuse anything else."""
    try:
        array = module.asarray(costs)
    except (TypeError, ValueError, OverflowError) as error:
        raise RunError(
            f"{argument}= returned {costs!r:.80}, not {_wanted(shape)}: {error}"
        ) from None
    if array.dtype.kind in "Ou" and array.shape == shape:
        for each in array.reshape(-1).tolist():
            if isinstance(each, int) and abs(each) > _MOST:
                raise _too_large(argument, each)
    if array.shape != shape or array.dtype.kind not in "iufb":
        what = f"an array of shape {array.shape} and type {array.dtype}"
        if array.ndim == 0 or array.dtype.kind not in "iufb":
            what = f"{costs!r:.80}"
        raise RunError(f"{argument}= returned {what}. Return {_wanted(shape)}")
    return array


def _too_large(argument: str, cost: int) -> RunError:
    return RunError(
        f"{argument}= returned {cost}: integer costs must be from -2**62 to 2**62. Return"
        " float(cost), or divide costs by a common factor"
    )


def _wanted(shape: tuple[int, ...]) -> str:
    return f"an array of {counted(shape[0], 'number')}, one per solution" if shape else "one number"


def _refuse_changed(argument: str, given: Any, solutions: Any) -> None:
    if bool((given != solutions).any()):
        raise RunError(
            f"{argument}= changed the solutions that it was given. Work on a copy, such as"
            " solutions.copy()"
        )


def _shown(solution: Any) -> str:
    row = solution[0] if getattr(solution, "ndim", 1) > 1 else solution
    values = row[:8].tolist()
    return f"[{', '.join(map(str, values))}{', ...' if len(row) > 8 else ''}]"


def module_of(array: Any) -> Any:
    """Return the module of an array: NumPy, or CuPy for an array on a GPU."""
    return sys.modules[type(array).__module__.partition(".")[0]]
